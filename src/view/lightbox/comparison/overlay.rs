//! Two outputs one over the other: how much of the first one is seen.

use leptos::html::{Div, Input};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

use atelier_studio::gallery::overlay;

use crate::reactive::boxed::{handler, text, when};
use crate::view::lightbox::zooming::Zooming;

/// Half as wide as a finger needs, in px.
const GRIP: f64 = 22.0;

#[derive(Clone, Copy)]
pub struct Overlay {
    pub is_on: Signal<bool>,
    /// How much of the first one is seen, in percent.
    pub share: RwSignal<f64>,
    /// How wide they are drawn, in px.
    pub drawn: Memo<f64>,
    /// Both of them are in here.
    pub element: NodeRef<Div>,
    pub zooming: Zooming,
    /// The pointer that draws the line.
    pub drawn_by: StoredValue<Option<i32>>,
    pub slider: NodeRef<Input>,
}

impl Overlay {
    /// The line goes where a pointer presses and draws it; where pictures are close, which a pointer moves about, it is
    /// taken hold of. Players keep theirs. A second finger brings the pictures closer instead.
    pub fn down(self, event: &PointerEvent) {
        let Some(element) = self.element.get_untracked() else {
            return;
        };
        self.ended();
        let is_close = untrack(|| self.zooming.is_close());
        let is_first = event.is_primary() && event.button() == 0;
        if !is_first || !self.is_meant(event) || (is_close && !self.is_on_line(event)) {
            return;
        }
        if is_close {
            event.stop_immediate_propagation();
        }
        // It fails only where the pointer is gone again.
        let _ = element.set_pointer_capture(event.pointer_id());
        self.drawn_by.set_value(Some(event.pointer_id()));
        self.draw(event);
    }

    pub fn moved(self, event: &PointerEvent) {
        if self.drawn_by.get_value() == Some(event.pointer_id()) {
            self.draw(event);
        }
    }

    pub fn ended(self) {
        self.drawn_by.set_value(None);
    }

    /// The keys then go on from there, and the focus does not fall behind the dialog.
    pub fn pressed(self, event: &web_sys::MouseEvent) {
        if self.is_meant(event) {
            event.prevent_default();
            if let Some(slider) = self.slider.get_untracked() {
                let _ = slider.focus();
            }
        }
    }

    fn is_meant(self, event: &web_sys::MouseEvent) -> bool {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let is_output = target.is_some_and(|it| {
            let output = it.closest(".compared-output").ok().flatten();
            output.is_some() && it.matches("a, button, audio, video, .waveform *") == Ok(false)
        });
        self.is_on.get_untracked() && is_output
    }

    fn draw(self, event: &PointerEvent) {
        if let Some(begins) = self.begins() {
            let drawn = self.drawn.get_untracked();
            let share = overlay::share(f64::from(event.client_x()), begins, drawn);
            self.share.set(share);
        }
    }

    /// Whether it is as near to the line as its grip is wide.
    fn is_on_line(self, event: &PointerEvent) -> bool {
        let line = self.share.get_untracked() / 100.0 * self.drawn.get_untracked();
        let away = |begins: f64| (f64::from(event.client_x()) - begins - line).abs();
        self.begins().is_some_and(|begins| away(begins) <= GRIP)
    }

    /// Where what is drawn begins in the window.
    fn begins(self) -> Option<f64> {
        let output = self.element.get_untracked()?;
        let output = output.query_selector(".compared-output").ok().flatten()?;
        let bounds = output.get_bounding_client_rect();
        Some(bounds.left() + (bounds.width() - self.drawn.get_untracked()) / 2.0)
    }

    /// For the keyboard, as wide as what it divides.
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
