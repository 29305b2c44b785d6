//! Two overlaid outputs with a dividing line between them that the user can drag.

use leptos::html::{Div, Input};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

use atelier_studio::gallery::overlay;

use crate::reactive::boxed::{handler, text, when};
use crate::view::lightbox::zooming::Zooming;

/// Half the width of a touch target, in px.
const TOUCH_RADIUS: f64 = 22.0;

/// The state of the dividing line.
#[derive(Clone, Copy)]
pub struct Overlay {
    pub is_on: Signal<bool>,
    /// Position of the dividing line: how much of the first output is visible, in percent.
    pub share: RwSignal<f64>,
    /// Width of the outputs, in px.
    pub width: Memo<f64>,
    /// The element that contains both outputs.
    pub element: NodeRef<Div>,
    pub zooming: Zooming,
    /// Id of the pointer that drags the line.
    pub dragged_by: StoredValue<Option<i32>>,
    pub slider: NodeRef<Input>,
}

impl Overlay {
    /// Starts to drag the dividing line, which jumps to the pointer.
    ///
    /// Zoomed pictures are panned instead, unless the pointer is on the line. Players handle presses themselves. A second
    /// finger ends the drag, because two fingers zoom.
    pub fn pointer_down(self, event: &PointerEvent) {
        let Some(element) = self.element.get_untracked() else {
            return;
        };
        self.end_drag();
        let is_zoomed_in = untrack(|| self.zooming.is_zoomed_in());
        let is_first = event.is_primary() && event.button() == 0;
        if !is_first || !self.moves_line(event) || (is_zoomed_in && !self.is_on_line(event)) {
            return;
        }
        if is_zoomed_in {
            event.stop_immediate_propagation();
        }
        // It fails only if the pointer is no longer active.
        let _ = element.set_pointer_capture(event.pointer_id());
        self.dragged_by.set_value(Some(event.pointer_id()));
        self.move_line(event);
    }

    pub fn pointer_moved(self, event: &PointerEvent) {
        if self.dragged_by.get_value() == Some(event.pointer_id()) {
            self.move_line(event);
        }
    }

    pub fn end_drag(self) {
        self.dragged_by.set_value(None);
    }

    /// Focuses the slider, so that the arrow keys continue from the pressed position and the focus stays in the dialog.
    pub fn focus_slider(self, event: &web_sys::MouseEvent) {
        if self.moves_line(event) {
            event.prevent_default();
            if let Some(slider) = self.slider.get_untracked() {
                let _ = slider.focus();
            }
        }
    }

    /// Returns whether an event on an output moves the line: not on its links, buttons and players.
    fn moves_line(self, event: &web_sys::MouseEvent) -> bool {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let is_output = target.is_some_and(|it| {
            let output = it.closest(".compared-output").ok().flatten();
            output.is_some() && it.matches("a, button, audio, video, .waveform *") == Ok(false)
        });
        self.is_on.get_untracked() && is_output
    }

    fn move_line(self, event: &PointerEvent) {
        if let Some(left) = self.left() {
            let width = self.width.get_untracked();
            let share = overlay::share(f64::from(event.client_x()), left, width);
            self.share.set(share);
        }
    }

    /// Returns whether the pointer is within the touch target of the line.
    fn is_on_line(self, event: &PointerEvent) -> bool {
        let line = self.share.get_untracked() / 100.0 * self.width.get_untracked();
        let distance = |left: f64| (f64::from(event.client_x()) - left - line).abs();
        self.left()
            .is_some_and(|left| distance(left) <= TOUCH_RADIUS)
    }

    /// Returns the left edge of the outputs in the viewport, in px.
    fn left(self) -> Option<f64> {
        let output = self.element.get_untracked()?;
        let output = output.query_selector(".compared-output").ok().flatten()?;
        let bounds = output.get_bounding_client_rect();
        Some(bounds.left() + (bounds.width() - self.width.get_untracked()) / 2.0)
    }

    /// Returns the slider that moves the line with the keyboard. It is as wide as the outputs.
    pub fn slider(self) -> AnyView {
        let (is_on, share) = (self.is_on, self.share);
        view! {
            <label class="comparison-slider" hidden=when(move || !is_on.get())>
                <span class="visually-hidden">"How much of the first is shown"</span>
                <input
                    node_ref=self.slider
                    type="range"
                    min="0"
                    max="100"
                    step="any"
                    prop:value=text(move || share.get().to_string())
                    on:input=handler(move |event| {
                        share.set(event_target_value(&event).parse().unwrap_or(50.0));
                    })
                />
            </label>
        }
        .into_any()
    }
}
