use leptos::html::Div;
use leptos::prelude::*;
use web_sys::PointerEvent;

use super::measures::Measures;
use crate::boxed::{derived, handler};
use crate::view::task::output_view::OutputView;
use crate::view::task::shown_output::ShownOutput;

/// A finger that moves this far sideways, in px, turns the page.
const SWIPE: i32 = 60;

/// The output itself. A picture is pressed to see it pixel by pixel, and then moved about.
pub fn stage(
    shown: &ShownOutput,
    measures: Measures,
    is_actual: RwSignal<bool>,
    go: impl Fn(isize) + 'static,
) -> AnyView {
    let stage = NodeRef::<Div>::new();
    measures.follow(stage, shown);
    let began = StoredValue::new((0, 0));
    let has_moved = StoredValue::new(false);
    let down = move |event: PointerEvent| {
        began.set_value((event.client_x(), event.client_y()));
        has_moved.set_value(false);
    };
    let moved = move |event: PointerEvent| {
        let is_mouse = event.pointer_type() == "mouse";
        let Some(stage) = stage
            .get_untracked()
            .filter(|_| is_mouse && event.buttons() == 1)
        else {
            return;
        };
        if is_actual.get_untracked() {
            stage.scroll_by_with_x_and_y(
                -f64::from(event.movement_x()),
                -f64::from(event.movement_y()),
            );
        }
        let (x, y) = began.get_value();
        if (event.client_x() - x).abs() + (event.client_y() - y).abs() > 4 {
            has_moved.set_value(true);
        }
    };
    let up = move |event: PointerEvent| {
        let (x, y) = began.get_value();
        let (across, down) = (event.client_x() - x, (event.client_y() - y).abs());
        // A finger on a player means the player.
        let is_picture = event_target::<web_sys::Element>(&event).matches("img") == Ok(true);
        if is_picture
            && event.pointer_type() == "touch"
            && !is_actual.get_untracked()
            && across.abs() > SWIPE
            && down < SWIPE
        {
            has_moved.set_value(true);
            go(if across < 0 { 1 } else { -1 });
        }
    };
    let press = move |event: web_sys::MouseEvent| {
        let is_picture = event_target::<web_sys::Element>(&event).matches("img");
        if is_picture == Ok(true) && !has_moved.get_value() {
            is_actual.update(|is_actual| *is_actual = !*is_actual);
        }
    };
    let label = format!("{}: {}", shown.kind.label(), shown.task.input.title());
    view! {
        <div
            class="stage"
            node_ref=stage
            data-kind=shown.kind.word()
            class:actual=is_actual
            on:pointerdown=handler(down)
            on:pointermove=handler(moved)
            on:pointerup=handler(up)
            on:click=handler(press)
            // The picture is moved about, not dragged away.
            on:dragstart=handler(|event: web_sys::DragEvent| event.prevent_default())
            tabindex=derived(move || is_actual.get().then_some("0"))
        >
            <OutputView shown=shown.clone() label />
        </div>
    }
    .into_any()
}
