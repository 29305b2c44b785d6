use std::sync::Arc;

use crate::boxed::{derived, effect, handler, text, when};
use crate::contexts::contexts;
use crate::view::lightbox::shown;
use atelier_engine::gallery::side_by_side;
use atelier_engine::output::{self, OutputKind};
use atelier_engine::{Millis, Task};
use leptos::html::Div;
use leptos::prelude::*;

use super::output_view::OutputView;
use super::over;
use super::room::{self, room};
use super::shown_output::ShownOutput;
use crate::view::parts::media;
use crate::view::parts::status_note::StatusNote;

/// As many outputs are made at a time: each is a picture to load, and a service may give thousands.
const MAX_CHUNK_OUTPUTS: usize = 48;

/// The outputs of a task: they are what all this is for.
#[component]
pub fn Outputs(
    task: Task,
    outputs: Vec<String>,
    answer: StatusNote,
    /// Set while an output is not to be had from its address.
    has_dead_link: RwSignal<bool>,
    /// See [`ShownOutput`].
    since: Millis,
) -> impl IntoView {
    has_dead_link.set(false);
    if outputs.is_empty() {
        return view! { <p class="muted">"Completed, without any output."</p> }.into_any();
    }
    let total = outputs.len();
    let task = Arc::new(task);
    // One picture alone has the place that was kept for it while it was waited for.
    let kinds = [OutputKind::Image, OutputKind::Video];
    let are_pictures = (outputs.iter().take(room::MOST + 1))
        .all(|url| kinds.contains(&OutputKind::of(url, &task.model.category)));
    let has_place = total == 1 && are_pictures;
    let first: Vec<Shape> = (0..total.min(room::MOST))
        .map(|_| Shape::new(task.clone()))
        .collect();
    let only = first[0].clone();
    let first_sides = only.sides;
    let is_film = task.output_kind(&outputs[0]) == OutputKind::Video;
    let shapes = derived({
        let (first, outputs) = (first.clone(), outputs.clone());
        move || {
            let are_together = are_pictures && outputs.len() == first.len();
            let shown = first.iter().zip(&outputs).filter(|_| are_together);
            shown.map(|(shape, url)| shape.measure(url)).collect()
        }
    });
    let shown = RwSignal::new(total.min(MAX_CHUNK_OUTPUTS));
    let list = move |from: usize, to: usize| {
        let some = outputs.iter().enumerate().take(to).skip(from);
        some.map(|(at, url)| {
            let (task, url) = (task.clone(), url.clone());
            let shape = first.get(at).cloned();
            let shape = shape.unwrap_or_else(|| Shape::new(task.clone()));
            view! { <Output task url n=at + 1 total answer has_dead_link since shape /> }.into_any()
        })
        .collect_view()
    };
    let begins = (0..total).step_by(MAX_CHUNK_OUTPUTS);
    let parts = move || {
        let begins = begins.clone().take_while(move |from| *from < shown.get());
        begins.collect::<Vec<_>>()
    };
    let shape_of_only = only.follow();
    let shape_of_place = derived(move || shape_of_only.get().filter(|_| has_place));
    // The place of a film is no larger than the film may be, once that is known.
    let most = derived(move || {
        let (_, height) = first_sides.get().filter(|_| has_place && is_film)?;
        Some(film_px(height))
    });
    let left = move || total - shown.get();
    let more = move |_| shown.update(|shown| *shown = total.min(*shown + MAX_CHUNK_OUTPUTS));
    let list = view! {
        <ul
            role="list"
            class="outputs"
            class:media-place=has_place
            data-count=total.min(5).to_string()
            style:--shape=shape_of_place
            style:--most=most
        >
            <For each=parts key=|from| *from let:from>
                {list(from, from + MAX_CHUNK_OUTPUTS)}
            </For>
        </ul>
    };
    view! {
        {room(shapes, list.into_any())}
        <button class="button" type="button" hidden=when(move || left() == 0) on:click=handler(more)>
            {text(move || format!("Show {} more of {total} outputs", left().min(MAX_CHUNK_OUTPUTS)))}
        </button>
    }
    .into_any()
}

#[component]
fn Output(
    task: Arc<Task>,
    url: String,
    n: usize,
    total: usize,
    answer: StatusNote,
    has_dead_link: RwSignal<bool>,
    since: Millis,
    shape: Shape,
) -> impl IntoView {
    let kind = task.output_kind(&url);
    let what = kind.label();
    let which = if total > 1 {
        format!("{what} {n} of {total}")
    } else {
        what.to_owned()
    };
    let label = match task.input.title() {
        "" => which.clone(),
        title => format!("{which}: {title}"),
    };
    let shown = ShownOutput::new(task, url, n - 1, since);
    let (copy, words) = (shown.copy, shown.words);
    effect(move || {
        if !words.read().is_empty() {
            has_dead_link.set(true);
        }
    });
    let name = shown.task.key.output(n - 1);
    let large = (kind == OutputKind::Image).then(|| enlarge(name.clone()));
    // What is done with one that stands alone is done below it.
    let over = (total > 1).then(|| over::over(&shown, answer));
    let sides = shape.sides;
    let picture = NodeRef::<Div>::new();
    media::follow_sides(picture, move |of| sides.set(of));
    let width = derived(move || {
        let (width, _) = sides.get().filter(|_| kind == OutputKind::Video)?;
        Some(film_px(width))
    });
    let shape = shape.follow();
    // Alone it needs no number.
    let caption = move || match (copy.read().is_empty(), total) {
        (true, 1) => String::new(),
        (true, _) => which.clone(),
        (false, _) => format!("{which}. Shown from the copy kept in this browser."),
    };
    view! {
        <li class="output" data-kind=kind.word() data-shown=name>
            <figure>
                <div class="picture" node_ref=picture style:--shape=shape style:--width=width>
                    <OutputView shown label />
                    {large} {over}
                </div>
                <figcaption class="muted">{text(caption)}</figcaption>
            </figure>
        </li>
    }
}

/// How long a side of a film may be, of this many pixels: larger it would be blocky.
fn film_px(pixels: u32) -> String {
    format!("{}px", 2 * u64::from(pixels))
}

/// The shape of an output: until it is there, what its input says of it.
#[derive(Clone)]
struct Shape {
    task: Arc<Task>,
    sides: RwSignal<Option<(u32, u32)>>,
}

impl Shape {
    fn new(task: Arc<Task>) -> Self {
        Self {
            task,
            sides: RwSignal::new(None),
        }
    }

    /// Of what is at this address; tracked.
    fn measure(&self, url: &str) -> side_by_side::Shape {
        let kind = self.task.output_kind(url);
        let schema = contexts().catalog.schema(&self.task.model);
        let schema = schema.loaded().map(|schema| &**schema);
        side_by_side::Shape::of(&self.task, kind, self.sides.get(), schema)
    }

    /// As style sheets write it.
    fn follow(self) -> Signal<Option<String>> {
        let catalog = contexts().catalog;
        derived(move || match self.sides.get() {
            Some((width, height)) => Some(format!("{width} / {height}")),
            None => {
                let schema = catalog.schema(&self.task.model);
                let values = self.task.input.values();
                output::ratio(values, schema.loaded().map(|schema| &**schema))
            }
        })
    }
}

/// Lies over a picture: pressed, it shows that as large as the window is.
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
