//! Zooms pictures with the wheel, keys, pinches and double clicks, and pans them by dragging. Several pictures on a stage
//! zoom in step. `studio::gallery::zoom` computes the new zoom.

use atelier_studio::gallery::zoom::{Point, STEP, Viewport, Zoom, percent};
use gloo_events::{EventListener, EventListenerOptions};
use icondata_lu::LuZoomIn;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{
    Element, Event, HtmlImageElement, KeyboardEvent, MouseEvent, PointerEvent, WheelEvent,
};

use crate::reactive::boxed::{dynamic, effect, follow_memo, handler, memo, text};
use crate::view::parts::glyph::Glyph;

/// Distance by which a key pans the picture, in px.
const PAN_STEP: f64 = 80.0;

/// The zoom of the pictures on a stage.
#[derive(Clone, Copy)]
pub struct Zooming {
    /// The offset is in fractions of the sides of each picture's element.
    zoom: RwSignal<Zoom>,
    /// The scale at which the whole picture fits, relative to its natural size.
    fit: RwSignal<Option<f64>>,
    stage: StoredValue<Option<NodeRef<Div>>>,
    /// CSS selector of the pictures on the stage.
    pictures: &'static str,
    /// The pressed pointers by their ids, with the last position of each.
    pointers: StoredValue<Vec<(i32, Point)>>,
}

impl Zooming {
    pub fn new(pictures: &'static str) -> Self {
        Self {
            zoom: RwSignal::new(Zoom::default()),
            fit: RwSignal::new(None),
            stage: StoredValue::new(None),
            pictures,
            pointers: StoredValue::new(Vec::new()),
        }
    }

    /// Handles the events of a stage until the current reactive owner is disposed.
    pub fn follow(self, stage: NodeRef<Div>) {
        self.stage.set_value(Some(stage));
        let listeners = StoredValue::new_local(Vec::new());
        effect(move || {
            let Some(stage) = stage.get() else {
                return;
            };
            let may_prevent = EventListenerOptions::enable_prevent_default();
            let listen = |name: &'static str, handle: Box<dyn Fn(&Event)>| {
                EventListener::new_with_options(&stage, name, may_prevent, move |event| {
                    handle(event)
                })
            };
            listeners.set_value(vec![
                listen(
                    "pointerdown",
                    listener(move |event| self.pointer_down(event)),
                ),
                listen(
                    "pointermove",
                    listener(move |event| self.pointer_moved(event)),
                ),
                listen("pointerup", listener(move |event| self.pointer_up(event))),
                listen(
                    "pointercancel",
                    listener(move |event| self.pointer_up(event)),
                ),
                listen("wheel", listener(move |event| self.wheel(event))),
                listen(
                    "dblclick",
                    listener(move |event| self.double_clicked(event)),
                ),
                // A drag pans the picture; it doesn't start drag and drop.
                listen("dragstart", Box::new(Event::prevent_default)),
            ]);
        });
    }

    /// Zooms out, so that the whole pictures are visible.
    pub fn reset(self) {
        self.pointers.set_value(Vec::new());
        if self.zoom.get_untracked() != Zoom::default() {
            self.zoom.set(Zoom::default());
        }
    }

    /// Zooms out each time a dialog opens or closes. The zoom stays from one picture to the next.
    pub fn reset_by(self, is_open: Signal<bool>) {
        let is_open = memo(move || is_open.get());
        effect(move || {
            follow_memo(is_open);
            self.reset();
        });
    }

    /// Returns whether the pictures are zoomed in; tracked.
    pub fn is_zoomed_in(self) -> bool {
        self.zoom.get().is_close()
    }

    /// Returns the CSS transform of the pictures; tracked.
    pub fn transform(self) -> String {
        let Zoom { scale, x, y } = self.zoom.get();
        let (x, y) = (x * 100.0, y * 100.0);
        format!("translate({x:.3}%, {y:.3}%) scale({scale:.3})")
    }

    /// Updates the scale at which the picture fits, after it has loaded or its container was resized.
    pub fn measure(self) {
        let scale = self.zoom.get_untracked().scale;
        let fit = self.pictures().first().and_then(|picture| {
            // `client_width` would be rounded.
            let drawn = picture.get_bounding_client_rect();
            Viewport {
                width: drawn.width() / scale,
                height: drawn.height() / scale,
                picture: (
                    picture.natural_width().into(),
                    picture.natural_height().into(),
                ),
            }
            .known_fit()
        });
        if self.fit.get_untracked() != fit {
            self.fit.set(fit);
        }
    }

    /// Returns the scale relative to the natural size, such as `43%`, or an empty text while that is unknown; tracked.
    pub fn percent(self) -> String {
        let percent = percent(self.zoom.get().scale, self.fit.get());
        percent.map_or_else(String::new, |percent| format!("{percent}%"))
    }

    /// Returns the CSS `clip-path` that keeps zoomed pictures within their own elements; tracked.
    pub fn clip(self) -> Option<String> {
        let zoom = self.zoom.get();
        let cut = zoom.cut().map(|part| format!("{:.3}%", part * 100.0));
        zoom.is_close().then(|| format!("inset({})", cut.join(" ")))
    }

    /// Returns the zoom button, or nothing if the stage has no picture.
    pub fn button(self, has_picture: Memo<bool>) -> AnyView {
        dynamic(move || match has_picture.get() {
            true => view! {
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Zoom"
                    title="Zoom: wheel, + and -, or double-click the picture"
                    aria-pressed=text(move || self.is_zoomed_in().to_string())
                    on:click=handler(move |_| self.toggle())
                >
                    <Glyph icon=LuZoomIn />
                </button>
            }
            .into_any(),
            false => ().into_any(),
        })
    }

    /// Zooms in or out around the center.
    fn toggle(self) {
        self.change(None, |zoom, at, viewport| zoom.toggled(at, viewport));
    }

    fn double_clicked(self, event: &MouseEvent) {
        let control = event_target::<Element>(event).closest("a, button");
        if control.is_ok_and(|it| it.is_none()) {
            event.prevent_default();
            let at = (event.client_x().into(), event.client_y().into());
            self.change(Some(at), |zoom, at, viewport| zoom.toggled(at, viewport));
        }
    }

    /// Handles a zoom key. Returns false for other keys.
    pub fn apply_key(self, event: &KeyboardEvent) -> bool {
        let factor = match event.key().as_str() {
            "+" | "=" => STEP,
            "-" | "_" => 1.0 / STEP,
            "0" => {
                self.reset();
                return true;
            }
            key if event.shift_key() && self.zoom.get_untracked().is_close() => {
                let by = match key {
                    "ArrowLeft" => (PAN_STEP, 0.0),
                    "ArrowRight" => (-PAN_STEP, 0.0),
                    "ArrowUp" => (0.0, PAN_STEP),
                    "ArrowDown" => (0.0, -PAN_STEP),
                    _ => return false,
                };
                self.change(None, |zoom, _, viewport| zoom.moved(by, viewport));
                return true;
            }
            _ => return false,
        };
        self.change(None, |zoom, at, viewport| zoom.by(factor, at, viewport));
        true
    }

    /// Handles a key event in a dialog whose only keys are those of the zoom.
    pub fn handle_key(self, event: &KeyboardEvent) {
        let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
        if !has_modifier && self.apply_key(event) {
            event.prevent_default();
        }
    }

    /// Handles the wheel. Browsers report a pinch on a touchpad as a wheel event with Ctrl. If the dialog can scroll, the
    /// wheel without Ctrl scrolls it.
    fn wheel(self, event: &WheelEvent) {
        let body = self.stage();
        let body = body.and_then(|stage| stage.closest(".lightbox-body, .comparison-body").ok()?);
        let scrolls = body.is_some_and(|body| body.scroll_height() > body.client_height() + 1);
        if self.pictures().is_empty() || (scrolls && !event.ctrl_key()) {
            return;
        }
        event.prevent_default();
        // `deltaMode` is pixels, lines or pages.
        let unit = [1.0, 16.0, 400.0][event.delta_mode().min(2) as usize];
        let speed = if event.ctrl_key() { 0.01 } else { 0.002 };
        let factor = (-event.delta_y() * unit * speed).clamp(-1.0, 1.0).exp();
        let at = (event.client_x().into(), event.client_y().into());
        self.change(Some(at), |zoom, at, viewport| zoom.by(factor, at, viewport));
    }

    fn pointer_down(self, event: &PointerEvent) {
        if event.button() != 0 || self.pictures().is_empty() {
            return;
        }
        let at = (event.client_x().into(), event.client_y().into());
        self.pointers.update_value(|pointers| {
            pointers.retain(|(id, _)| *id != event.pointer_id());
            pointers.push((event.pointer_id(), at));
        });
    }

    fn pointer_moved(self, event: &PointerEvent) {
        let to = (event.client_x().into(), event.client_y().into());
        let before = self.pointers.get_value();
        let Some(at) = before.iter().position(|(id, _)| *id == event.pointer_id()) else {
            return;
        };
        self.pointers.update_value(|pointers| pointers[at].1 = to);
        match before.as_slice() {
            [(_, from)] if self.zoom.get_untracked().is_close() => {
                // Capture the pointer, so that the drag continues outside the stage.
                if let Some(stage) = self.stage() {
                    let _ = stage.set_pointer_capture(event.pointer_id());
                }
                let by = (to.0 - from.0, to.1 - from.1);
                self.change(Some(*from), |zoom, _, viewport| zoom.moved(by, viewport));
            }
            [(_, a), (_, b)] => {
                let (from, mut now) = ([*a, *b], [*a, *b]);
                now[at] = to;
                self.pinch(from, now);
            }
            _ => {}
        }
    }

    fn pinch(self, from: [Point; 2], to: [Point; 2]) {
        self.change(Some(from[0]), |zoom, at, viewport| {
            let center = (from[0].0 - at.0, from[0].1 - at.1);
            let relative = |points: [Point; 2]| points.map(|(x, y)| (x - center.0, y - center.1));
            zoom.pinched(relative(from), relative(to), viewport)
        });
    }

    fn pointer_up(self, event: &PointerEvent) {
        self.pointers
            .update_value(|pointers| pointers.retain(|(id, _)| *id != event.pointer_id()));
    }

    /// Changes the zoom around a point in client coordinates, or around the center of the first picture.
    fn change(self, at: Option<Point>, change: impl FnOnce(Zoom, Point, Viewport) -> Zoom) {
        let Some((center, viewport)) = self.viewport(at) else {
            return;
        };
        let at = at.map_or((0.0, 0.0), |(x, y)| (x - center.0, y - center.1));
        let before = self.zoom.get_untracked();
        let zoom = change(before.to_px(viewport), at, viewport).to_fractions(viewport);
        if zoom != before {
            self.zoom.set(zoom);
        }
    }

    fn stage(self) -> Option<web_sys::HtmlDivElement> {
        self.stage.get_value()?.try_get_untracked().flatten()
    }

    /// Returns the pictures on the stage. Videos and sounds have their own controls and are not zoomed.
    fn pictures(self) -> Vec<HtmlImageElement> {
        let Some(stage) = self.stage() else {
            return Vec::new();
        };
        let found = stage.get_elements_by_tag_name("img");
        let found = (0..found.length()).filter_map(|at| found.item(at));
        let found = found.filter(|it| it.matches(self.pictures) == Ok(true));
        found.filter_map(|it| it.dyn_into().ok()).collect()
    }

    /// Returns the center, in client coordinates, and the size of the element of the picture at this point, or of the first
    /// picture.
    fn viewport(self, at: Option<Point>) -> Option<(Point, Viewport)> {
        let Zoom { x, y, .. } = self.zoom.get_untracked();
        let viewports = self.pictures().into_iter().map(|picture| {
            let drawn = picture.get_bounding_client_rect();
            let viewport = Viewport {
                width: picture.client_width().into(),
                height: picture.client_height().into(),
                picture: (
                    picture.natural_width().into(),
                    picture.natural_height().into(),
                ),
            };
            let center = (
                drawn.left() + drawn.width() / 2.0 - x * viewport.width,
                drawn.top() + drawn.height() / 2.0 - y * viewport.height,
            );
            (center, viewport)
        });
        let viewports: Vec<_> = viewports.collect();
        let contains_point = |((center_x, center_y), viewport): &&(Point, Viewport)| {
            at.is_some_and(|(x, y)| {
                2.0 * (x - center_x).abs() <= viewport.width
                    && 2.0 * (y - center_y).abs() <= viewport.height
            })
        };
        viewports
            .iter()
            .find(contains_point)
            .or(viewports.first())
            .copied()
    }
}

/// Returns a listener that ignores events of other types than `E`.
fn listener<E: JsCast>(handle: impl Fn(&E) + 'static) -> Box<dyn Fn(&Event)> {
    Box::new(move |event| {
        if let Some(event) = event.dyn_ref::<E>() {
            handle(event);
        }
    })
}
