//! An item of a batch in its grid. Shows its first output, which opens the large view, or its state, which links to its
//! task.

use atelier_contract::output::OutputKind;
use atelier_engine::TaskKey;
use atelier_studio::batch::labelled_grid;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::{FocusEvent, KeyboardEvent, MouseEvent, PointerEvent};

use super::arrows;
use super::thumb::Thumb;
use crate::reactive::boxed::{dynamic, handler, memo, text};
use crate::state::contexts::contexts;
use crate::view::gallery::selection::Selection;
use crate::view::gallery::tile_tools::{self, TileHover};
use crate::view::parts::media::{self, MediaView};
use crate::view::task::{small_bar, small_output};

/// The aspect ratios (width to height) of the items of a batch; `None` where unknown.
pub type Shapes = Memo<Vec<Option<f64>>>;

/// The data that all items of a grid share.
#[derive(Clone, Copy)]
pub struct ItemContext {
    pub shapes: Shapes,
    pub selection: Selection,
    /// Whether there is a coarse pointer, see [`TileHover::selection_mark`].
    pub is_touched: bool,
    /// Whether the primary pointer is coarse, such as a finger.
    pub is_mainly_touched: bool,
}

/// An item. `frame`: the aspect ratio of the space for the picture. Some visible texts are drawn by CSS, because the label
/// already contains them.
pub fn item(cell: &Thumb, context: ItemContext, frame: Memo<f64>) -> AnyView {
    let number = cell.index + 1;
    let caption = view! {
        <span class="thumb-number drawn" data-text=number.to_string()></span>
        <span class="thumb-title" dir="auto">{cell.caption.clone()}</span>
    };
    let (href, phase) = (cell.href.clone(), cell.phase.clone());
    let index = cell.index;
    let sides = RwSignal::new(None);
    let share = memo(move || {
        let expected = context.shapes.read().get(index).copied().flatten();
        labelled_grid::share(
            labelled_grid::actual_shape(expected, sides.get()),
            frame.get(),
        )
    });
    if let (Some((url, kind)), Some(key)) = (cell.picture.clone(), &cell.task) {
        let name = format!("Task {number}: {}", cell.title);
        let output = Output {
            url,
            kind,
            key: key.clone(),
            share,
            sides,
        };
        // On touch screens the caption is not a link, because it is too small to tap. Otherwise it is a link, but not a tab
        // stop, because that would double the number of tab stops. The large view also links to the task.
        let caption = match context.is_mainly_touched {
            true => view! {
                <span class="thumb-caption" aria-hidden="true" translate="no">
                    {caption}
                </span>
            }
            .into_any(),
            false => view! {
                <a class="thumb-caption" translate="no" href=href tabindex="-1" aria-label=name title="Show task">
                    {caption}
                </a>
            }
            .into_any(),
        };
        return view! {
            <div class="thumb" data-phase=phase>
                <div class="thumb-picture">{output.tile(cell, context.selection, context.is_touched)}</div>
                {caption}
            </div>
        }
        .into_any();
    }
    let inside = match cell.picture.clone() {
        Some((url, kind)) => view! {
            <span class="tile" style:--wide=wide(share) style:--high=high(share)>
                <MediaView url kind label="" thumbnail=true />
                {more(cell)}
            </span>
        }
        .into_any(),
        None => view! {
            <span class="thumb-state drawn" data-text=cell.state.clone()></span>
            {bar(cell)}
            <span class="thumb-note drawn" data-text=cell.note.clone()></span>
        }
        .into_any(),
    };
    let content = view! {
        <span class="thumb-picture" aria-hidden="true">
            {inside}
        </span>
        <span class="thumb-caption" aria-hidden="true" translate="no">
            {caption}
        </span>
    };
    let (label, title) = (label(cell), title(cell));
    match href {
        Some(href) => view! {
            <a class="thumb" href=href aria-label=label title=title data-phase=phase>
                {content}
            </a>
        }
        .into_any(),
        None => view! {
            <div class="thumb" role="img" aria-label=label title=title data-phase=phase>
                {content}
            </div>
        }
        .into_any(),
    }
}

/// Returns the accessible name. Its order matches the visible text, so that voice control finds the item.
fn label(cell: &Thumb) -> String {
    format!("Item {}: {}, {}", cell.index + 1, cell.title, cell.state)
}

/// Returns the tooltip.
fn title(cell: &Thumb) -> String {
    match cell.note.as_str() {
        "" => cell.title.clone(),
        note => format!("{}: {note}", cell.title),
    }
}

/// The reported progress of the item.
fn bar(cell: &Thumb) -> Option<AnyView> {
    let task = contexts().runner.task(cell.task.as_ref()?)?;
    Some(small_bar(&task))
}

/// The number of outputs in addition to the one that is shown.
fn more(cell: &Thumb) -> Option<AnyView> {
    let more = format!("+{}", cell.more);
    (cell.more > 0).then(|| view! { <span class="more drawn" data-text=more></span> }.into_any())
}

/// The shares of the available width and height that the picture takes.
type Share = Memo<(f64, f64)>;

fn wide(share: Share) -> Signal<String> {
    text(move || format!("{:.2}%", share.get().0 * 100.0))
}

fn high(share: Share) -> Signal<String> {
    text(move || format!("{:.2}%", share.get().1 * 100.0))
}

/// The first output of an item.
struct Output {
    url: String,
    kind: OutputKind,
    key: TaskKey,
    share: Share,
    /// The width and height in pixels, once the picture is loaded.
    sides: RwSignal<Option<(u32, u32)>>,
}

impl Output {
    /// The picture with its overlaid controls. A grey box of the expected shape is shown until it is loaded.
    fn tile(self, cell: &Thumb, selection: Selection, is_touched: bool) -> AnyView {
        let Self {
            url,
            kind,
            key,
            share,
            sides,
        } = self;
        let element = NodeRef::<Div>::new();
        media::follow_sides(element, move |of| sides.set(of));
        let task = contexts().runner.task(&key);
        let is_favorite = memo(move || {
            let task = task.as_ref();
            task.is_some_and(|task| task.read().favorites.contains(&0))
        });
        let name = key.output(0);
        let which = format!("item {}", cell.index + 1);
        let hover = TileHover::inactive();
        let mark = hover.selection_mark(&name, &which, selection, is_touched);
        let tools = {
            let name = name.clone();
            dynamic(move || match hover.is_active.get() {
                true => tile_tools::actions(&name, &which, is_favorite),
                false => ().into_any(),
            })
        };
        let (pressed, keyed) = (name.clone(), name.clone());
        let press = move |event: MouseEvent| tile_tools::handle_click(&event, &pressed, selection);
        let key = move |event: KeyboardEvent| {
            if tile_tools::handle_key(&event, &keyed, selection) || arrows::handle_key(&event) {
                event.prevent_default();
            }
        };
        view! {
            <div
                class="tile"
                class:favorite=is_favorite
                data-kind=kind.word()
                node_ref=element
                style:--wide=wide(share)
                style:--high=high(share)
                on:pointerenter=handler(move |event: PointerEvent| hover.enter(&event))
                on:pointerleave=handler(move |_: PointerEvent| hover.leave())
                on:focusin=handler(move |_: FocusEvent| hover.set_focus(true))
                on:focusout=handler(move |_: FocusEvent| hover.set_focus(false))
                on:keydown=handler(key)
            >
                <button
                    type="button"
                    class="tile-open"
                    data-output=name.clone()
                    aria-label=label(cell)
                    title=title(cell)
                    on:click=handler(press)
                >
                    {small_output(name.clone(), url, kind)}
                </button>
                {mark}
                {tools}
                {more(cell)}
            </div>
        }
        .into_any()
    }
}
