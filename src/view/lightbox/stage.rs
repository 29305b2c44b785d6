use atelier_engine::output::OutputKind;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::{Element, PointerEvent};

use super::measures::Measures;
use super::zooming::Zooming;
use crate::boxed::{derived, handler, text, when};
use crate::view::task::output_view::OutputView;
use crate::view::task::shown_output::ShownOutput;

/// A finger that moves this far sideways, in px, turns the page.
const SWIPE: i32 = 60;

/// The output itself. A picture can be brought closer, and is then moved about.
pub fn stage(
    shown: &ShownOutput,
    measures: Measures,
    zooming: Zooming,
    go: impl Fn(isize) + 'static,
) -> AnyView {
    let stage = NodeRef::<Div>::new();
    measures.follow(stage, shown);
    zooming.begin(stage);
    // Where one finger came down; none once there were two.
    let began = StoredValue::new(None);
    let down = move |event: PointerEvent| {
        zooming.down(&event);
        let is_swipe = zooming.count() <= 1 && !untrack(|| zooming.is_close());
        began.set_value(is_swipe.then(|| (event.client_x(), event.client_y())));
    };
    let up = move |event: PointerEvent| {
        zooming.up(&event);
        let Some((x, y)) = began.get_value() else {
            return;
        };
        began.set_value(None);
        let (across, down) = (event.client_x() - x, (event.client_y() - y).abs());
        // A finger on a player means the player.
        let is_picture = event_target::<Element>(&event).matches("img") == Ok(true);
        if is_picture && event.pointer_type() == "touch" && across.abs() > SWIPE && down < SWIPE {
            go(if across < 0 { 1 } else { -1 });
        }
    };
    let press_twice = move |event: web_sys::MouseEvent| {
        let is_other = event_target::<Element>(&event).closest("a, button");
        if is_other.is_ok_and(|it| it.is_none()) {
            event.prevent_default();
            zooming.turn_at(event.client_x(), event.client_y());
        }
    };
    let label = format!("{}: {}", shown.kind.label(), shown.task.input.title());
    let is_image = shown.kind == OutputKind::Image;
    view! {
        <div
            class="stage"
            node_ref=stage
            data-kind=shown.kind.word()
            class:close=when(move || is_image && zooming.is_close())
            style:--zoom=text(move || zooming.transform())
            style:--ratio=derived(move || measures.ratio())
            on:pointerdown=handler(down)
            on:pointermove=handler(move |event: PointerEvent| zooming.moved(&event))
            on:pointerup=handler(up)
            on:pointercancel=handler(move |event: PointerEvent| {
                began.set_value(None);
                zooming.up(&event);
            })
            on:dblclick=handler(press_twice)
            on:wheel=handler(move |event: web_sys::WheelEvent| zooming.wheel(&event))
            // The picture is moved about, not dragged away.
            on:dragstart=handler(|event: web_sys::DragEvent| event.prevent_default())
            // A press on it does not lose the focus to nothing behind the dialog.
            tabindex="-1"
        >
            <OutputView shown=shown.clone() label />
        </div>
    }
    .into_any()
}
