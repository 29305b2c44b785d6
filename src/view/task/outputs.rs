use std::sync::Arc;

use crate::reactive::boxed::{derived, dynamic, effect, follow_memo, handler, memo, text, when};
use crate::state::contexts::{Contexts, contexts};
use crate::state::known_files;
use crate::view::lightbox::shown;
use atelier_contract::output::OutputKind;
use atelier_engine::{Millis, Task};
use atelier_studio::gallery::side_by_side;
use atelier_studio::task::output_group::MAX_PICTURES;
use leptos::html::Div;
use leptos::prelude::*;

use super::again::Again;
use super::expected_shape;
use super::output_container::output_container;
use super::output_view::OutputView;
use super::overlay;
use super::shown_output::ShownOutput;
use super::unreadable;
use super::video_size;
use crate::view::parts::list::{Item, list};
use crate::view::parts::media;

/// Outputs are shown in chunks of this size: each is a picture to load, and a service may return thousands.
const MAX_CHUNK_OUTPUTS: usize = 48;

pub(super) const NO_OUTPUT: &str = "Completed without output.";

/// The outputs of a task.
#[component]
pub fn Outputs(
    task: Task,
    outputs: Vec<String>,
    again: Again,
    /// Set to true when the address of an output is dead.
    has_dead_link: RwSignal<bool>,
    /// See [`ShownOutput`].
    since: Millis,
    /// Whether the actions on a single output are visible next to it. The overlay with the same actions is then hidden.
    are_actions_beside: bool,
) -> impl IntoView {
    has_dead_link.set(false);
    if outputs.is_empty() {
        return view! { <p class="muted">{NO_OUTPUT}</p> }.into_any();
    }
    let total = outputs.len();
    let task = Arc::new(task);
    // A single picture fills the space that was reserved for it.
    let kinds = [OutputKind::Image, OutputKind::Video];
    let are_pictures = (outputs.iter().take(MAX_PICTURES + 1))
        .all(|url| kinds.contains(&OutputKind::of(url, &task.model.category)));
    let has_reserved_space = total == 1 && are_pictures;
    let first_shapes: Vec<Shape> = (0..total.min(MAX_PICTURES))
        .map(|_| Shape::new(task.clone()))
        .collect();
    let only = first_shapes[0].clone();
    let is_video = task.output_kind(&outputs[0]) == OutputKind::Video;
    let shapes = derived({
        let (first_shapes, outputs) = (first_shapes.clone(), outputs.clone());
        move || {
            let are_together = are_pictures && outputs.len() == first_shapes.len();
            let shown = first_shapes.iter().zip(&outputs).filter(|_| are_together);
            shown.map(|(shape, url)| shape.measure(url)).collect()
        }
    });
    let shown = RwSignal::new(total.min(MAX_CHUNK_OUTPUTS));
    let outputs = Arc::new(outputs);
    let chunk = move |from: usize| {
        let in_chunk = outputs
            .iter()
            .enumerate()
            .skip(from)
            .take(MAX_CHUNK_OUTPUTS);
        in_chunk
            .map(|(at, url)| {
                let (task, url) = (task.clone(), url.clone());
                let shape = first_shapes.get(at).cloned();
                let shape = shape.unwrap_or_else(|| Shape::new(task.clone()));
                view! { <Output task url n=at + 1 total again has_dead_link since shape /> }
                    .into_any()
            })
            .collect_view()
            .into_any()
    };
    let chunks = move || {
        let starts = (0..shown.get()).step_by(MAX_CHUNK_OUTPUTS);
        let item = |from: usize| {
            let chunk = chunk.clone();
            Item::new(from.to_string(), move || chunk(from))
        };
        starts.map(item).collect()
    };
    let shape_of_only = only.clone().css_ratio();
    let shape_of_place = derived(move || shape_of_only.get().filter(|_| has_reserved_space));
    // The space for a video is at most as high as the video.
    let max_height = derived(move || {
        let (_, height) = only
            .video_size()
            .filter(|_| has_reserved_space && is_video)?;
        Some(format!("{height}px"))
    });
    let remaining = move || total - shown.get();
    let more = move |_| shown.update(|shown| *shown = total.min(*shown + MAX_CHUNK_OUTPUTS));
    let outputs_list = view! {
        <ul
            role="list"
            class="outputs"
            class:media-place=has_reserved_space
            class:bare=are_actions_beside
            data-count=total.min(5).to_string()
            style:--shape=shape_of_place
            style:--most=max_height
        >
            {list(chunks)}
        </ul>
    };
    view! {
        {output_container(shapes, outputs_list.into_any())}
        <button class="button" type="button" hidden=when(move || remaining() == 0) on:click=handler(more) prop:textContent=text(move || format!("Show {} more of {total} outputs", remaining().min(MAX_CHUNK_OUTPUTS)))></button>
    }
    .into_any()
}

#[component]
fn Output(
    task: Arc<Task>,
    url: String,
    n: usize,
    total: usize,
    again: Again,
    has_dead_link: RwSignal<bool>,
    since: Millis,
    shape: Shape,
) -> impl IntoView {
    let name = task.key.output(n - 1);
    let kind = {
        let (task, url) = (task.clone(), url.clone());
        memo(move || known_files::kind(&task, &url))
    };
    // Rebuilt if the file turns out to be of another kind than its address suggests.
    let figure = dynamic(move || {
        follow_memo(kind);
        let shown = untrack(|| ShownOutput::new(task.clone(), url.clone(), n - 1, since));
        figure(
            shown,
            n,
            total,
            again,
            has_dead_link,
            shape.clone(),
            ().into_any(),
        )
    });
    view! {
        <li class="output" data-kind=text(move || kind.get().word().to_owned()) data-shown=name>
            {figure}
        </li>
    }
}

/// An output, with an overlay of actions if it is one of several.
///
/// `n`: its number, from 1. `others`: further menu items for one of several.
pub(super) fn figure(
    shown: ShownOutput,
    n: usize,
    total: usize,
    again: Again,
    has_dead_link: RwSignal<bool>,
    shape: Shape,
    others: AnyView,
) -> AnyView {
    let kind = shown.kind;
    let what = kind.label();
    let which = if total > 1 {
        format!("{what} {n} of {total}")
    } else {
        what.to_owned()
    };
    let label = match shown.task.input.title() {
        "" => which.clone(),
        title => format!("{which}: {title}"),
    };
    let message = shown.message;
    effect(move || {
        if !message.read().is_empty() {
            has_dead_link.set(true);
        }
    });
    let name = shown.task.key.output(shown.position);
    let note = unreadable::note(&shown);
    let large = (kind == OutputKind::Image).then(|| enlarge(name));
    let picture = NodeRef::<Div>::new();
    let is_near = RwSignal::new(false);
    let overlay = match (total, kind) {
        (1, OutputKind::Image | OutputKind::Video) => {
            overlay::single_overlay(&shown, again, is_near)
        }
        (1, _) => ().into_any(),
        _ => overlay::overlay(&shown, again.answer, others),
    };
    let point = move |event: web_sys::PointerEvent| {
        // Set once: a button must not be replaced under the pointer.
        if event.pointer_type() != "touch" && !is_near.get_untracked() {
            is_near.set(true);
        }
    };
    let loaded = shape.clone();
    media::follow_sides(picture, move |size| loaded.set_size(size, kind));
    let width = {
        let shape = shape.clone();
        derived(move || {
            let (width, _) = shape.video_size().filter(|_| kind == OutputKind::Video)?;
            Some(format!("{width}px"))
        })
    };
    let shape = shape.css_ratio();
    // Tells screen readers which of the outputs this is.
    let caption = (total > 1).then_some(which);
    view! {
        <figure>
            <div
                class="picture"
                node_ref=picture
                style:--shape=shape
                style:--width=width
                on:pointerenter=handler(point)
            >
                <OutputView shown label />
                {large} {overlay}
            </div>
            {note}
            {caption.map(|which| {
                view! { <figcaption class="visually-hidden">{which}</figcaption> }.into_any()
            })}
        </figure>
    }
    .into_any()
}

/// The shape of an output: the measured shape once it is loaded, and before that the shape that its input suggests.
#[derive(Clone)]
pub(super) struct Shape {
    all: Contexts,
    task: Arc<Task>,
    sides: RwSignal<Option<(u32, u32)>>,
}

impl Shape {
    pub(super) fn new(task: Arc<Task>) -> Self {
        Self {
            all: contexts(),
            task,
            sides: RwSignal::new(None),
        }
    }

    fn set_size(&self, sides: Option<(u32, u32)>, kind: OutputKind) {
        self.sides.set(sides);
        let ratio = untrack(|| self.ratio());
        if let (OutputKind::Video, Some(sides), Some(ratio)) = (kind, sides, ratio) {
            video_size::store_size(&self.task.model, &ratio, sides);
        }
    }

    /// Returns the measured or expected size of a video, in pixels. The video is not enlarged beyond this size. Tracked.
    fn video_size(&self) -> Option<(u32, u32)> {
        let sides = self.sides.get();
        sides.or_else(|| video_size::last_size(&self.task.model, &self.ratio()?))
    }

    /// Returns the expected aspect ratio; tracked.
    fn ratio(&self) -> Option<String> {
        expected_shape::ratio(self.all, &self.task)
    }

    /// Returns the shape of the output at this address; tracked.
    pub(super) fn measure(&self, url: &str) -> side_by_side::Shape {
        let kind = self.task.output_kind(url);
        match (kind, self.sides.get()) {
            (OutputKind::Image | OutputKind::Video, None) => {
                side_by_side::Shape::from_ratio(&self.ratio().unwrap_or_default())
            }
            (_, sides) => side_by_side::Shape::of(&self.task, kind, sides, None),
        }
    }

    /// Returns the aspect ratio in CSS syntax.
    pub(super) fn css_ratio(self) -> Signal<Option<String>> {
        derived(move || match self.sides.get() {
            Some((width, height)) => Some(format!("{width} / {height}")),
            None => self.ratio(),
        })
    }
}

/// A transparent button over a picture that opens it as large as the window.
fn enlarge(output: String) -> AnyView {
    let navigation = contexts().navigation;
    view! {
        <button
            class="enlarge"
            type="button"
            data-output=output.clone()
            aria-label="Show large"
            title="Show large"
            on:click=handler(move |_| shown::open(navigation, &output))
        ></button>
    }
    .into_any()
}
