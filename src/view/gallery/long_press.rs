//! Selects a tile after a long press with a finger.

use atelier_studio::gallery::long_press::{HOLD_MS, LongPress, Place};
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, MouseEvent, PointerEvent};

use super::selection::Selection;
use crate::reactive::boxed::{after, effect};

/// Listens to fingers on the tiles in an element, for as long as the current owner lives.
pub fn follow(element: impl Fn() -> Option<HtmlElement> + 'static, selection: Selection) {
    let press = StoredValue::new(LongPress::default());
    let timer = StoredValue::new_local(None::<Timeout>);
    let listeners = StoredValue::new_local(Vec::new());
    let hold = move || {
        let held = press.try_update_value(LongPress::hold).flatten();
        if let Some(name) = held.filter(|name| !untrack(|| selection.contains(name))) {
            selection.toggle(&name);
        }
    };
    let down = move |event: &PointerEvent| {
        let (is_touch, is_alone) = (event.pointer_type() == "touch", event.is_primary());
        let output = output_below(event);
        let begins =
            press.try_update_value(|press| press.down(output, is_touch, is_alone, place(event)));
        timer.set_value((begins == Some(true)).then(|| after(HOLD_MS, hold)));
    };
    let end = move || press.update_value(LongPress::end);
    effect(move || {
        let Some(element) = element() else { return };
        // In the capture phase, so that a click can be suppressed before the tile handles it.
        let first = EventListenerOptions {
            phase: EventListenerPhase::Capture,
            passive: false,
        };
        let listen = |name: &'static str, done: Box<dyn Fn(&Event)>| {
            EventListener::new_with_options(&element, name, first, move |event| done(event))
        };
        let of_pointer = |act: Box<dyn Fn(&PointerEvent)>| -> Box<dyn Fn(&Event)> {
            Box::new(move |event| act(event.unchecked_ref()))
        };
        listeners.set_value(vec![
            listen("pointerdown", of_pointer(Box::new(down))),
            listen(
                "pointermove",
                of_pointer(Box::new(move |event| {
                    press.update_value(|press| press.moved(place(event)));
                })),
            ),
            listen("pointerup", Box::new(move |_| end())),
            listen("pointercancel", Box::new(move |_| end())),
            listen(
                "click",
                Box::new(move |event| {
                    let is_keyboard = event.unchecked_ref::<MouseEvent>().detail() == 0;
                    let is_suppressed =
                        press.try_update_value(|press| press.suppresses_click(is_keyboard));
                    if is_suppressed == Some(true) {
                        event.stop_propagation();
                        event.prevent_default();
                    }
                }),
            ),
            listen(
                "contextmenu",
                Box::new(move |event| {
                    let pointer = event.dyn_ref::<PointerEvent>();
                    // Menus opened with the keyboard or the mouse are not affected.
                    if pointer.is_none_or(|it| it.pointer_type() != "touch") {
                        return;
                    }
                    // Some browsers open the menu before the duration of a long press.
                    hold();
                    if press.with_value(LongPress::suppresses_menu) {
                        event.prevent_default();
                    }
                }),
            ),
            // Otherwise a long press would drag the picture.
            listen(
                "dragstart",
                Box::new(move |event| {
                    if press.with_value(LongPress::is_touch) {
                        event.prevent_default();
                    }
                }),
            ),
        ]);
    });
}

fn place(event: &PointerEvent) -> Place {
    (event.client_x().into(), event.client_y().into())
}

/// Returns the output of the tile under the pointer; `None` on the controls above a tile.
fn output_below(event: &PointerEvent) -> Option<String> {
    let target: Element = event.target()?.dyn_into().ok()?;
    let tile = target.closest(".tile-open").ok().flatten()?;
    tile.get_attribute("data-output")
}
