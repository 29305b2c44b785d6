//! A marquee: a frame drawn with the mouse on the background, which selects the tiles that it intersects.

use std::collections::HashSet;

use atelier_studio::gallery::layout::Frame;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, MouseEvent};

use super::focus;
use super::selection::Selection;
use crate::reactive::boxed::{dynamic, text};

/// Elements that handle presses themselves.
const INTERACTIVE: &str = "a, button, input, select, label, summary, dialog, .tile, .selection";

/// The minimum distance of a drag, in px.
const MIN_DISTANCE: f64 = 5.0;

/// Within this distance from the edge of the window, in px, the page scrolls.
const EDGE: f64 = 48.0;
/// The distance by which the page scrolls for each mouse event, in px.
const STEP: f64 = 24.0;

/// A frame that is being drawn.
struct Drawing {
    /// The start, relative to the top left corner of the gallery, which scrolls.
    from: (f64, f64),
    /// The outputs that were selected before and stay selected.
    before: HashSet<String>,
}

/// The frame and its listeners. `names_in`: returns the names of the outputs that a frame intersects.
pub fn marquee(
    gallery: NodeRef<Div>,
    names_in: impl Fn(Frame) -> Vec<String> + 'static,
    selection: Selection,
) -> AnyView {
    let frame = RwSignal::new(None::<Frame>);
    let drawing = StoredValue::new_local(None::<Drawing>);
    let place = move |event: &MouseEvent| {
        let corner = gallery.get_untracked()?.get_bounding_client_rect();
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        Some((x - corner.left(), y - corner.top()))
    };
    let start = move |event: &MouseEvent| {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let is_background = target.is_some_and(|target| {
            target.closest("main").is_ok_and(|it| it.is_some())
                && target.closest(INTERACTIVE).is_ok_and(|it| it.is_none())
        });
        let (true, Some(from)) = (is_background && event.button() == 0, place(event)) else {
            return;
        };
        let adds = event.shift_key() || event.ctrl_key() || event.meta_key();
        let before = if adds {
            selection.chosen()
        } else {
            HashSet::new()
        };
        drawing.set_value(Some(Drawing { from, before }));
        // Prevents text selection. It also stops the browser from removing the focus, so that is done here.
        event.prevent_default();
        let focused = document().active_element();
        if let Some(focused) = focused.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            // `blur` does not fail.
            let _ = focused.blur();
        }
    };
    let update = move |event: &MouseEvent| {
        let from = drawing.with_value(|it| it.as_ref().map(|it| it.from));
        let (Some(from), Some(to)) = (from, place(event)) else {
            return;
        };
        let is_short = (to.0 - from.0).abs() + (to.1 - from.1).abs() < MIN_DISTANCE;
        if is_short && frame.read_untracked().is_none() {
            return;
        }
        let now = Frame::between(from, to);
        frame.set(Some(now));
        let mut names = names_in(now);
        drawing.with_value(|it| names.extend(it.iter().flat_map(|it| it.before.iter().cloned())));
        selection.set(names);
        let height = window().inner_height().ok().and_then(|it| it.as_f64());
        let y = f64::from(event.client_y());
        if y < EDGE {
            window().scroll_by_with_x_and_y(0.0, -STEP);
        } else if height.is_some_and(|height| y > height - EDGE) {
            window().scroll_by_with_x_and_y(0.0, STEP);
        }
    };
    let end = move |_: &MouseEvent| {
        if frame.read_untracked().is_some() {
            // So that keys work on the selection.
            focus::to_list();
        }
        drawing.set_value(None);
        frame.set(None);
    };
    StoredValue::new_local([
        listen("mousedown", start),
        listen("mousemove", update),
        listen("mouseup", end),
    ]);
    let px = |value: f64| format!("{value:.0}px");
    dynamic(move || match frame.get().is_some() {
        true => {
            let length = move |side: fn(Frame) -> f64| {
                text(move || px(frame.get().map(side).unwrap_or_default()))
            };
            view! {
                <div
                    class="gallery-band"
                    style:left=length(|frame| frame.left)
                    style:top=length(|frame| frame.top)
                    style:width=length(|frame| frame.right - frame.left)
                    style:height=length(|frame| frame.bottom - frame.top)
                ></div>
            }
            .into_any()
        }
        false => ().into_any(),
    })
}

/// Listens on the document, because a frame may start next to the tiles and end anywhere.
fn listen(name: &'static str, act: impl Fn(&MouseEvent) + 'static) -> EventListener {
    let may_prevent = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&document(), name, may_prevent, move |event: &Event| {
        if let Some(event) = event.dyn_ref() {
            act(event);
        }
    })
}
