//! Two to four outputs side by side, or two of them one over the other, and what their inputs have not
//! in common.

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

use super::shown::{COMPARED, MAX_COMPARED, known, shown_output};
use super::zooming::Zooming;
use crate::reactive::boxed::{derived, dynamic, follow_memo, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::view::parts::segment::segment;
use crate::view::parts::viewport::scrolled;
use crate::view::parts::{dialog, focus_return};
use crate::view::task::shown_output::ShownOutput;

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
    let known = known(names);
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
    let is_over = when(move || is_slider.get() && can_overlay.get());
    let body = move || {
        let outputs = outputs.get();
        if names.read().is_none() || (outputs.len() < 2 && !known.read().is_open) {
            return ().into_any();
        }
        if outputs.len() < 2 {
            return view! { <p class="lightbox-unknown">"Those outputs aren't in this browser."</p> }
                .into_any();
        }
        side_by_side(outputs, is_over, share, zooming)
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
            class:over-each-other=is_over
            on:close=handler(move |_: web_sys::Event| close())
            on:keydown=handler(move |event: KeyboardEvent| zooming.keys(&event))
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

/// What tells their tasks apart; tracked. The models of another service are not known here.
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

/// What can be done with each stands in a line above it, in `rem`.
const HEAD: f64 = 2.75;

/// On a line of its own where two lie one over the other in a narrow window.
const TWO_LINES: f64 = 4.75;
const NARROW: f64 = 38.0;

/// What differs has at least so much room next to four, in `rem`.
const SIDE: f64 = 30.0;

/// And below them so much: its caption, and the two lines of each difference.
const CAPTION: f64 = 1.75;
const DIFFERENCE: f64 = 2.9;

/// It is scrolled where that is more than this part of the window; the style sheet says the same.
const MAX_BELOW: f64 = 0.3;

/// All of them, in as many columns as make them largest, and the table below.
fn side_by_side(
    outputs: Vec<ShownOutput>,
    is_over: Signal<bool>,
    share: RwSignal<f64>,
    zooming: Zooming,
) -> AnyView {
    let count = outputs.len();
    let differences = memo({
        let outputs = outputs.clone();
        move || known_differences(&outputs)
    });
    let are_told = memo(move || are_shown_by_captions(&differences.read()));
    let whole = NodeRef::<Div>::new();
    let whole_seen = scrolled(whole);
    let element = NodeRef::<Div>::new();
    let seen = scrolled(element);
    zooming.follow(element);
    let room = memo(move || seen.read().room(HEAD));
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
    // How much room the table needs below them, in `rem`.
    let below = memo(move || match are_told.get() {
        true => 0.0,
        false => CAPTION + DIFFERENCE * differences.read().len() as f64,
    });
    // Decided by what does not change with it: all of the room, and how much of it the table would take.
    let undivided = memo(move || {
        let whole = whole_seen.read().room(HEAD);
        let below = (below.get() * whole.rem).min(MAX_BELOW * whole.height);
        (whole, below)
    });
    let two_and_two = memo(move || {
        let (whole, below) = undivided.get();
        whole.grid_width(&shapes.read(), below, SIDE * whole.rem)
    });
    let is_beside = when(move || two_and_two.get().is_some());
    let is_in_corner = memo(move || {
        let (whole, below) = undivided.get();
        !are_told.get() && !is_over.get() && whole.fits_text_in_corner(&shapes.read(), below)
    });
    let columns = memo(move || match two_and_two.get() {
        Some(_) => 2,
        None if is_in_corner.get() => 2,
        None => room.read().columns(&shapes.read()),
    });
    let column = derived(move || {
        let is_row = columns.get() == count && !is_over.get();
        let room = room.get();
        is_row.then(|| room.column(count) / room.rem + GAP)
    });
    let left = memo(
        move || match is_over.get() || is_beside.get() || is_in_corner.get() {
            true => 0.0,
            false => room.read().unused_height(&shapes.read(), columns.get()),
        },
    );
    let overlaid = memo(move || {
        let room = seen.read().room(HEAD);
        let is_narrow = room.width < NARROW * room.rem;
        let line = if is_narrow { TWO_LINES } else { HEAD };
        seen.read().room(line).overlaid(&shapes.read())
    });
    let overlay = Overlay {
        is_on: is_over,
        share,
        drawn: memo(move || overlaid.get().0),
        element,
        zooming,
        drawn_by: StoredValue::new(None),
        slider: NodeRef::<Input>::new(),
    };
    view! {
        <div
            class="comparison-room"
            class:beside=is_beside
            class:in-corner=is_in_corner
            node_ref=whole
            style:--wide=derived(move || two_and_two.get().map(|wide| format!("{wide:.1}px")))
            style:--share=text(move || (share.get() / 100.0).to_string())
            style:--drawn=text(move || format!("{:.1}px", overlay.drawn.get()))
            style:--drawn-high=text(move || format!("{:.1}px", overlaid.get().1))
            style:--left=text(move || format!("{:.1}px", left.get()))
            style:--columns=text(move || columns.get().to_string())
        >
            {overlay.slider()}
            <div
                class="compared-room"
                class:close=when(move || zooming.is_close())
                node_ref=element
                style:--zoom=text(move || zooming.transform())
                style:--clip=derived(move || zooming.clip())
                on:pointerdown=handler(move |event: PointerEvent| overlay.down(&event))
                on:pointermove=handler(move |event: PointerEvent| overlay.moved(&event))
                on:pointerup=handler(move |_: PointerEvent| overlay.ended())
                on:pointercancel=handler(move |_: PointerEvent| overlay.ended())
                on:mousedown=handler(move |event: web_sys::MouseEvent| overlay.pressed(&event))
                // A press on it does not lose the focus to nothing behind the dialog.
                tabindex="-1"
            >
                <ol role="list" class="compared" data-count=count.to_string()>
                    {pictures}
                </ol>
            </div>
            {dynamic(move || match are_told.get() {
                true => ().into_any(),
                false => table::table(&differences.read(), count, column),
            })}
        </div>
    }
    .into_any()
}
