//! Two to four outputs side by side, or two of them one over the other, and what their inputs have not
//! in common.

mod compared;
mod overlay;
mod table;

use atelier_engine::batch::differences::item_names;
use atelier_engine::gallery::compare::differences;
use atelier_engine::gallery::side_by_side::{GAP, Shape};
use leptos::html::{Dialog, Div, Input};
use leptos::prelude::*;
use web_sys::PointerEvent;

use compared::compared;
use overlay::Overlay;

use super::shown::{COMPARED, MAX_COMPARED, known, shown_output};
use crate::boxed::{derived, dynamic, handler, memo, text, when};
use crate::contexts::contexts;
use crate::view::parts::dialog;
use crate::view::parts::segment::segment;
use crate::view::parts::viewport::scrolled;
use crate::view::task::shown_output::ShownOutput;

#[component]
pub fn Comparison() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let names = memo(move || navigation.query(COMPARED));
    let is_slider = RwSignal::new(false);
    let share = RwSignal::new(50.0);
    let is_open = when(move || names.read().is_some());
    dialog::follow(dialog, is_open);
    let close = move || navigation.pop_query(COMPARED);
    let known = known(names);
    let outputs = derived(move || {
        known.track();
        let names = names.get().unwrap_or_default();
        let outputs = names.split(',').take(MAX_COMPARED).filter_map(shown_output);
        outputs.collect::<Vec<ShownOutput>>()
    });
    let count = memo(move || outputs.read().len());
    let is_over = when(move || is_slider.get() && count.get() == 2);
    let body = dynamic(move || {
        let outputs = outputs.get();
        if names.read().is_none() || (outputs.len() < 2 && !known.read().is_open) {
            return ().into_any();
        }
        if outputs.len() < 2 {
            return view! { <p class="lightbox-unknown">"Those outputs aren't in this browser."</p> }
                .into_any();
        }
        side_by_side(outputs, is_over, share)
    });
    view! {
        <dialog
            class="lightbox comparison"
            node_ref=dialog
            aria-label="Compare"
            class:over-each-other=is_over
            on:close=handler(move |_: web_sys::Event| close())
        >
            <header class="lightbox-head">
                <fieldset class="segments" hidden=when(move || count.get() != 2)>
                    <legend class="visually-hidden">"How they are compared"</legend>
                    {segment(
                        "comparison",
                        "Side by side",
                        when(move || !is_slider.get()),
                        move || is_slider.set(false),
                    )}
                    {segment("comparison", "Slider", is_slider.into(), move || is_slider.set(true))}
                </fieldset>
                {dialog::close_button(close, true)}
            </header>
            <div class="comparison-body">{body}</div>
            {dialog::notices(is_open)}
        </dialog>
    }
}

/// What can be done with each stands in a line above it, in `rem`.
const HEAD: f64 = 2.75;

/// All of them, in as many columns as make them largest, and the table below.
fn side_by_side(outputs: Vec<ShownOutput>, is_over: Signal<bool>, share: RwSignal<f64>) -> AnyView {
    let count = outputs.len();
    let tasks: Vec<_> = outputs.iter().map(|shown| &*shown.task).collect();
    let differences = differences(&tasks);
    let element = NodeRef::<Div>::new();
    let seen = scrolled(element);
    let room = memo(move || seen.read().room(HEAD));
    let sides: Vec<_> = outputs.iter().map(|_| RwSignal::new(None)).collect();
    let names = item_names(tasks.iter().copied().map(Some));
    let pictures = outputs.iter().zip(&sides).zip(names).enumerate();
    let pictures = pictures
        .map(|(at, ((shown, sides), name))| compared(shown, &name, at + 1, count, *sides))
        .collect_view();
    let shapes = memo(move || {
        let shapes = outputs.iter().zip(&sides);
        let shapes =
            shapes.map(|(shown, sides)| Shape::of(&shown.task, shown.kind, sides.get(), None));
        shapes.collect::<Vec<_>>()
    });
    let columns = memo(move || room.read().columns(&shapes.read()));
    let column = derived(move || {
        let is_row = columns.get() == count && !is_over.get();
        let room = room.get();
        is_row.then(|| room.column(count) / room.rem + GAP)
    });
    let left = memo(move || match is_over.get() {
        true => 0.0,
        false => room.read().left(&shapes.read(), columns.get()),
    });
    let overlaid = memo(move || room.read().overlaid(&shapes.read()));
    let overlay = Overlay {
        is_on: is_over,
        share,
        drawn: memo(move || overlaid.get().0),
        element,
        slider: NodeRef::<Input>::new(),
    };
    view! {
        <div
            class="comparison-room"
            style:--share=text(move || (share.get() / 100.0).to_string())
            style:--drawn=text(move || format!("{:.1}px", overlay.drawn.get()))
            style:--drawn-high=text(move || format!("{:.1}px", overlaid.get().1))
            style:--left=text(move || format!("{:.1}px", left.get()))
            style:--columns=text(move || columns.get().to_string())
        >
            {overlay.slider()}
            <div
                class="compared-room"
                node_ref=element
                on:pointerdown=handler(move |event: PointerEvent| overlay.down(&event))
                on:pointermove=handler(move |event: PointerEvent| overlay.moved(&event))
                on:mousedown=handler(move |event: web_sys::MouseEvent| overlay.pressed(&event))
                // The line is drawn, not the picture dragged away.
                on:dragstart=handler(|event: web_sys::DragEvent| event.prevent_default())
            >
                <ol role="list" class="compared">
                    {pictures}
                </ol>
            </div>
            {table::table(&differences, column)}
        </div>
    }
    .into_any()
}
