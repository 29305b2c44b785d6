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

/// Returns the output. A picture can be zoomed and panned; a swipe shows the next or previous output.
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
    let stage_viewport = scrolled(stage);
    effect(move || {
        stage_viewport.track();
        measures.width();
        zooming.measure();
    });
    // Where a swipe with one finger started.
    let began = StoredValue::new(None);
    let down = move |event: PointerEvent| {
        let is_swipe = event.pointer_type() == "touch"
            && event.is_primary()
            && !untrack(|| zooming.is_zoomed_in())
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
    // Reserves the height of a picture before it has loaded, so that the content below doesn't shift.
    let expected = derived({
        let task = shown.task.clone();
        move || expected_shape::ratio(all, &task)
    });
    view! {
        <div
            class="stage"
            node_ref=stage
            data-kind=shown.kind.word()
            class:close=when(move || is_image && zooming.is_zoomed_in())
            style:--zoom=text(move || zooming.transform())
            style:--shape=expected
            style:--ratio=derived(move || measures.ratio())
            style:--pixels=derived(move || measures.width())
            on:pointerdown=handler(down)
            on:pointerup=handler(up)
            on:pointercancel=handler(move |_: PointerEvent| began.set_value(None))
            // Focusable, so that a press here doesn't move the focus out of the dialog.
            tabindex="-1"
        >
            <OutputView shown=shown.clone() label />
        </div>
    }
    .into_any()
}

/// Returns whether a touch is on the picture, and not on the controls of a player.
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
