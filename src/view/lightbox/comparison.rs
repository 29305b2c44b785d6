//! A dialog that compares two to four outputs side by side, or two overlaid with a slider, and lists the inputs in which
//! they differ.

mod companion;
mod compared;
mod overlay;
mod table;

use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::gallery::compare::{self, ComparedInput, are_shown_by_captions, differences};
use atelier_studio::gallery::overlay::can_overlay;
use atelier_studio::gallery::side_by_side::{GAP, Shape};
use leptos::html::{Dialog, Div, Input};
use leptos::prelude::*;
use web_sys::{KeyboardEvent, PointerEvent};

use companion::companion;
use compared::compared;
use overlay::Overlay;

use super::shown::{COMPARED, MAX_COMPARED, known_tasks, shown_output};
use super::zooming::Zooming;
use crate::reactive::boxed::{derived, dynamic, follow_memo, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::view::parts::segment::segment;
use crate::view::parts::viewport::scrolled;
use crate::view::parts::{dialog, focus_return};
use crate::view::task::shown_output::ShownOutput;

/// The dialog of the comparison.
#[component]
pub fn Comparison() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let names = memo(move || navigation.query(COMPARED));
    let is_slider = RwSignal::new(false);
    let share = RwSignal::new(50.0);
    let is_open = when(move || names.read().is_some());
    dialog::follow_large(dialog, is_open);
    focus_return::follow(is_open);
    let zooming = Zooming::new(".compared-picture > img");
    zooming.reset_by(is_open);
    let close = move || navigation.pop_query(COMPARED);
    let known = known_tasks(names);
    let outputs = derived(move || {
        follow_memo(known);
        let names = names.get().unwrap_or_default();
        let outputs = names.split(',').take(MAX_COMPARED).filter_map(shown_output);
        outputs.collect::<Vec<ShownOutput>>()
    });
    let can_overlay = memo(move || {
        let kinds: Vec<_> = outputs.read().iter().map(|shown| shown.kind).collect();
        can_overlay(&kinds)
    });
    let has_picture = memo(move || {
        let outputs = outputs.read();
        outputs.iter().any(|shown| shown.kind == OutputKind::Image)
    });
    let is_overlaid = when(move || is_slider.get() && can_overlay.get());
    let body = move || {
        let outputs = outputs.get();
        if names.read().is_none() || (outputs.len() < 2 && !known.read().is_open) {
            return ().into_any();
        }
        if outputs.len() < 2 {
            return view! { <p class="lightbox-unknown">"These outputs are not in this browser."</p> }
                .into_any();
        }
        side_by_side(outputs, is_overlaid, share, zooming)
    };
    let contents = move || {
        view! {
            <header class="lightbox-head">
                <fieldset class="segments" hidden=when(move || !can_overlay.get())>
                    <legend class="visually-hidden">"How they are compared"</legend>
                    {segment(
                        "comparison",
                        "Side by side",
                        when(move || !is_slider.get()),
                        move || is_slider.set(false),
                    )}
                    {segment("comparison", "Slider", is_slider.into(), move || is_slider.set(true))}
                </fieldset>
                {zooming.button(has_picture)}
                {dialog::close_button(close, true)}
                {companion(names)}
            </header>
            <div class="comparison-body">{dynamic(body)}</div>
        }
        .into_any()
    };
    view! {
        <dialog
            class="lightbox comparison"
            node_ref=dialog
            aria-label="Compare"
            class:over-each-other=is_overlaid
            on:close=dialog::closed(close)
            on:keydown=handler(move |event: KeyboardEvent| zooming.handle_key(&event))
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

/// Returns the inputs in which the tasks of the outputs differ; tracked. Tasks of another service are compared without
/// their schema.
fn known_differences(outputs: &[ShownOutput]) -> Vec<ComparedInput> {
    let all = contexts();
    let address = all.session.settings().address;
    let schemas = outputs.iter().map(|shown| {
        let is_known = shown.task.account.address == address.as_str();
        let schema = is_known.then(|| all.catalog.schema(&shown.task.model))?;
        schema.loaded().cloned()
    });
    let schemas: Vec<_> = schemas.collect();
    let tasks: Vec<&Task> = outputs.iter().map(|shown| &*shown.task).collect();
    differences(&tasks, |task| {
        let at = tasks.iter().position(|it| it.key == task.key)?;
        schemas[at].as_deref()
    })
}

/// Height of the row of buttons above each output, in `rem`.
const BUTTON_ROW: f64 = 2.75;

/// Height of both rows of buttons, in `rem`, when two outputs are overlaid in a narrow window.
const TWO_ROWS: f64 = 4.75;

/// Width below which a window is narrow, in `rem`.
const NARROW_BELOW: f64 = 38.0;

/// Minimum width of the table of differences next to four outputs, in `rem`.
const MIN_TABLE_WIDTH: f64 = 30.0;

/// Height of the caption of the table, in `rem`.
const CAPTION_HEIGHT: f64 = 1.75;

/// Height of a difference in the table, which has two lines, in `rem`.
const DIFFERENCE_HEIGHT: f64 = 2.9;

/// Maximum height of the table below the outputs, as a fraction of the container's height. A higher table scrolls: the style
/// sheet limits it to the same fraction of the window.
const MAX_BELOW: f64 = 0.3;

/// Returns the outputs in as many columns as make them largest, and the table of differences.
fn side_by_side(
    outputs: Vec<ShownOutput>,
    is_overlaid: Signal<bool>,
    share: RwSignal<f64>,
    zooming: Zooming,
) -> AnyView {
    let count = outputs.len();
    let differences = memo({
        let outputs = outputs.clone();
        move || known_differences(&outputs)
    });
    let are_in_captions = memo(move || are_shown_by_captions(&differences.read()));
    let container = NodeRef::<Div>::new();
    let container_viewport = scrolled(container);
    let element = NodeRef::<Div>::new();
    let viewport = scrolled(element);
    zooming.follow(element);
    let space = memo(move || viewport.read().room(BUTTON_ROW));
    let sides: Vec<_> = outputs.iter().map(|_| RwSignal::new(None)).collect();
    let names = memo({
        let outputs = outputs.clone();
        move || {
            let tasks: Vec<_> = outputs.iter().map(|shown| &*shown.task).collect();
            compare::captions(&tasks, &differences.read())
        }
    });
    let pictures = outputs.iter().zip(&sides).enumerate();
    let pictures = pictures
        .map(|(at, (shown, sides))| {
            let name = text(move || names.read().get(at).cloned().unwrap_or_default());
            compared(shown, name, at + 1, count, *sides)
        })
        .collect_view();
    let shapes = memo(move || {
        let shapes = outputs.iter().zip(&sides);
        let shapes =
            shapes.map(|(shown, sides)| Shape::of(&shown.task, shown.kind, sides.get(), None));
        shapes.collect::<Vec<_>>()
    });
    // The height of the table below the outputs, in `rem`.
    let below = memo(move || match are_in_captions.get() {
        true => 0.0,
        false => CAPTION_HEIGHT + DIFFERENCE_HEIGHT * differences.read().len() as f64,
    });
    // The layout depends only on values that it doesn't change itself: the whole container and the height of the table.
    let available = memo(move || {
        let container = container_viewport.read().room(BUTTON_ROW);
        let below = (below.get() * container.rem).min(MAX_BELOW * container.height);
        (container, below)
    });
    let grid_width = memo(move || {
        let (container, below) = available.get();
        container.grid_width(&shapes.read(), below, MIN_TABLE_WIDTH * container.rem)
    });
    let is_table_at_side = when(move || grid_width.get().is_some());
    let is_in_corner = memo(move || {
        let (container, below) = available.get();
        !are_in_captions.get()
            && !is_overlaid.get()
            && container.fits_text_in_corner(&shapes.read(), below)
    });
    let columns = memo(move || match grid_width.get() {
        Some(_) => 2,
        None if is_in_corner.get() => 2,
        None => space.read().columns(&shapes.read()),
    });
    let column = derived(move || {
        let is_row = columns.get() == count && !is_overlaid.get();
        let space = space.get();
        is_row.then(|| space.column(count) / space.rem + GAP)
    });
    let unused_height =
        memo(
            move || match is_overlaid.get() || is_table_at_side.get() || is_in_corner.get() {
                true => 0.0,
                false => space.read().unused_height(&shapes.read(), columns.get()),
            },
        );
    let overlaid = memo(move || {
        let space = viewport.read().room(BUTTON_ROW);
        let is_narrow = space.width < NARROW_BELOW * space.rem;
        let row = if is_narrow { TWO_ROWS } else { BUTTON_ROW };
        viewport.read().room(row).overlaid(&shapes.read())
    });
    let overlay = Overlay {
        is_on: is_overlaid,
        share,
        width: memo(move || overlaid.get().0),
        element,
        zooming,
        dragged_by: StoredValue::new(None),
        slider: NodeRef::<Input>::new(),
    };
    view! {
        <div
            class="comparison-room"
            class:beside=is_table_at_side
            class:in-corner=is_in_corner
            node_ref=container
            style:--wide=derived(move || grid_width.get().map(|wide| format!("{wide:.1}px")))
            style:--share=text(move || (share.get() / 100.0).to_string())
            style:--drawn=text(move || format!("{:.1}px", overlay.width.get()))
            style:--drawn-high=text(move || format!("{:.1}px", overlaid.get().1))
            style:--left=text(move || format!("{:.1}px", unused_height.get()))
            style:--columns=text(move || columns.get().to_string())
        >
            {overlay.slider()}
            <div
                class="compared-room"
                class:close=when(move || zooming.is_zoomed_in())
                node_ref=element
                style:--zoom=text(move || zooming.transform())
                style:--clip=derived(move || zooming.clip())
                on:pointerdown=handler(move |event: PointerEvent| overlay.pointer_down(&event))
                on:pointermove=handler(move |event: PointerEvent| overlay.pointer_moved(&event))
                on:pointerup=handler(move |_: PointerEvent| overlay.end_drag())
                on:pointercancel=handler(move |_: PointerEvent| overlay.end_drag())
                on:mousedown=handler(move |event: web_sys::MouseEvent| overlay.focus_slider(&event))
                // Focusable, so that a press here doesn't move the focus out of the dialog.
                tabindex="-1"
            >
                <ol role="list" class="compared" data-count=count.to_string()>
                    {pictures}
                </ol>
            </div>
            {dynamic(move || match are_in_captions.get() {
                true => ().into_any(),
                false => table::table(&differences.read(), count, column),
            })}
        </div>
    }
    .into_any()
}
