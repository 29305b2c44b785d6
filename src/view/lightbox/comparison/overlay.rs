//! Two outputs one over the other: how much of the first one is seen.

use leptos::html::{Div, Input};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

use atelier_engine::gallery::side_by_side;

use crate::boxed::{handler, text, when};

#[derive(Clone, Copy)]
pub struct Overlay {
    pub is_on: Signal<bool>,
    /// How much of the first one is seen, in percent.
    pub share: RwSignal<f64>,
    /// How wide they are drawn, in px.
    pub drawn: Memo<f64>,
    /// Both of them are in here.
    pub element: NodeRef<Div>,
    pub slider: NodeRef<Input>,
}

impl Overlay {
    /// The line goes where a pointer presses and draws it. Players keep theirs.
    pub fn down(self, event: &PointerEvent) {
        let Some(element) = self.element.get_untracked() else {
            return;
        };
        if event.button() == 0 && self.is_meant(event) {
            // It fails only where the pointer is gone again.
            let _ = element.set_pointer_capture(event.pointer_id());
            self.draw(event);
        }
    }

    pub fn moved(self, event: &PointerEvent) {
        let element = self.element.get_untracked();
        if element.is_some_and(|it| it.has_pointer_capture(event.pointer_id())) {
            self.draw(event);
        }
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
        let output = self.element.get_untracked();
        let output = output.and_then(|it| it.query_selector(".compared-output").ok().flatten());
        let Some(bounds) = output.map(|output| output.get_bounding_client_rect()) else {
            return;
        };
        let drawn = self.drawn.get_untracked();
        let begins = bounds.left() + (bounds.width() - drawn) / 2.0;
        let share = side_by_side::share(f64::from(event.client_x()), begins, drawn);
        self.share.set(share);
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
