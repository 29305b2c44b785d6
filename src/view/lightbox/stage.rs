use atelier_contract::output::OutputKind;
use atelier_studio::gallery::swipe;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::{Element, PointerEvent};

use super::measures::Measures;
use super::zooming::Zooming;
use crate::reactive::boxed::{derived, effect, handler, text, when};
use crate::state::contexts::contexts;
use crate::view::parts::viewport::scrolled;
use crate::view::task::output_view::OutputView;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{expected_shape, words};

/// The output itself. A picture can be brought closer, and is then moved about.
pub fn stage(
    shown: &ShownOutput,
    measures: Measures,
    zooming: Zooming,
    go: impl Fn(isize) + 'static,
) -> AnyView {
    let all = contexts();
    let stage = NodeRef::<Div>::new();
    measures.follow(stage, shown);
    zooming.follow(stage);
    zooming.reset();
    let room = scrolled(stage);
    effect(move || {
        room.track();
        measures.width();
        zooming.measure();
    });
    // Where one finger came down; none once there were two.
    let began = StoredValue::new(None);
    let down = move |event: PointerEvent| {
        let is_swipe = event.pointer_type() == "touch"
            && event.is_primary()
            && !untrack(|| zooming.is_close())
            && is_on_picture(&event);
        began.set_value(is_swipe.then(|| (event.client_x(), event.client_y())));
    };
    let up = move |event: PointerEvent| {
        let Some(from) = began.get_value() else {
            return;
        };
        began.set_value(None);
        match swipe::step(from, (event.client_x(), event.client_y())) {
            0 => {}
            step => go(step),
        }
    };
    let label = words::output(&shown.task, shown.kind);
    let is_image = shown.kind == OutputKind::Image;
    // What stands below it has its place before a picture is there.
    let expected = derived({
        let task = shown.task.clone();
        move || expected_shape::ratio(all, &task)
    });
    view! {
        <div
            class="stage"
            node_ref=stage
            data-kind=shown.kind.word()
            class:close=when(move || is_image && zooming.is_close())
            style:--zoom=text(move || zooming.transform())
            style:--shape=expected
            style:--ratio=derived(move || measures.ratio())
            style:--pixels=derived(move || measures.width())
            on:pointerdown=handler(down)
            on:pointerup=handler(up)
            on:pointercancel=handler(move |_: PointerEvent| began.set_value(None))
            // A press on it does not lose the focus to nothing behind the dialog.
            tabindex="-1"
        >
            <OutputView shown=shown.clone() label />
        </div>
    }
    .into_any()
}

/// A finger on a player means the player.
fn is_on_picture(event: &PointerEvent) -> bool {
    let on = event_target::<Element>(event);
    let bounds = on.get_bounding_client_rect();
    let above = bounds.bottom() - f64::from(event.client_y());
    match on.local_name().as_str() {
        "img" => true,
        "video" => swipe::is_on_picture(above, bounds.height()),
        _ => false,
    }
}
