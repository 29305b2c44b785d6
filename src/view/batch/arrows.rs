//! Arrow keys between the outputs of a batch, by their position on the screen.

use atelier_studio::gallery::layout::{Direction, Frame};
use atelier_studio::list::arrow_keys;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

const OUTPUT: &str = "tile-open";

/// Moves the focus from the focused output in the direction of an arrow key. Returns whether the focus moved.
pub fn handle_key(event: &KeyboardEvent) -> bool {
    let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key() || event.shift_key();
    let Some(focused) = document().active_element().filter(|_| !has_modifier) else {
        return false;
    };
    let outputs = document().get_elements_by_class_name(OUTPUT);
    let outputs: Vec<Element> = (0..outputs.length())
        .filter_map(|at| outputs.item(at))
        .collect();
    let places: Vec<Frame> = outputs.iter().map(frame_of).collect();
    let from = outputs.iter().position(|output| *output == focused);
    let step = Direction::of_key(&event.key()).zip(from);
    let goal = step.and_then(|(direction, from)| arrow_keys::goal(direction, &places, from));
    let goal = goal.and_then(|at| outputs[at].dyn_ref::<HtmlElement>());
    // Focusing fails only if the output was removed.
    goal.is_some_and(|output| output.focus().is_ok())
}

fn frame_of(element: &Element) -> Frame {
    let bounds = element.get_bounding_client_rect();
    Frame {
        left: bounds.left(),
        top: bounds.top(),
        right: bounds.right(),
        bottom: bounds.bottom(),
    }
}
