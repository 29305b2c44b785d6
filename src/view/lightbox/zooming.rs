//! A picture is brought closer by the wheel, by keys, by two fingers and by pressing twice, and moved about
//! with one. What comes of it is decided in the engine.

use atelier_engine::gallery::zoom::{Point, Room, STEP, Zoom};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlImageElement, KeyboardEvent, PointerEvent, WheelEvent};

/// A key moves the picture so far, in px.
const MOVE: f64 = 80.0;

/// How the picture is seen that is shown large.
#[derive(Clone, Copy)]
pub struct Zooming {
    pub zoom: RwSignal<Zoom>,
    stage: StoredValue<Option<NodeRef<Div>>>,
    /// The fingers that lie on the picture, by their ids, where each was last.
    fingers: StoredValue<Vec<(i32, Point)>>,
}

impl Zooming {
    pub fn new() -> Self {
        Self {
            zoom: RwSignal::new(Zoom::default()),
            stage: StoredValue::new(None),
            fingers: StoredValue::new(Vec::new()),
        }
    }

    /// Another output is shown, as a whole.
    pub fn begin(self, stage: NodeRef<Div>) {
        self.stage.set_value(Some(stage));
        self.reset();
    }

    pub fn reset(self) {
        self.fingers.set_value(Vec::new());
        if self.zoom.get_untracked() != Zoom::default() {
            self.zoom.set(Zoom::default());
        }
    }

    pub fn is_close(self) -> bool {
        self.zoom.get().is_close()
    }

    /// For the style sheet.
    pub fn transform(self) -> String {
        let Zoom { scale, x, y } = self.zoom.get();
        format!("translate({x:.1}px, {y:.1}px) scale({scale:.3})")
    }

    /// Closer, or as a whole again, about the middle.
    pub fn turn(self) {
        self.change(None, |zoom, at, room| zoom.turned(at, room));
    }

    /// Pressed twice.
    pub fn turn_at(self, x: i32, y: i32) {
        self.change(Some((x, y)), |zoom, at, room| zoom.turned(at, room));
    }

    /// Whether the key was one of these.
    pub fn key(self, event: &KeyboardEvent) -> bool {
        let factor = match event.key().as_str() {
            "+" | "=" => STEP,
            "-" | "_" => 1.0 / STEP,
            "0" => {
                self.reset();
                return true;
            }
            key if event.shift_key() && self.zoom.get_untracked().is_close() => {
                let by = match key {
                    "ArrowLeft" => (MOVE, 0.0),
                    "ArrowRight" => (-MOVE, 0.0),
                    "ArrowUp" => (0.0, MOVE),
                    "ArrowDown" => (0.0, -MOVE),
                    _ => return false,
                };
                self.change(None, |zoom, _, room| zoom.moved(by, room));
                return true;
            }
            _ => return false,
        };
        self.change(None, |zoom, at, room| zoom.by(factor, at, room));
        true
    }

    /// The wheel, or two fingers on a touchpad, which come as a wheel with Ctrl. Where the page scrolls, the
    /// wheel alone is for that.
    pub fn wheel(self, event: &WheelEvent) {
        let scrolls = self.stage().and_then(|stage| stage.parent_element());
        let scrolls = scrolls.is_some_and(|body| body.scroll_height() > body.client_height() + 1);
        if self.image().is_none() || (scrolls && !event.ctrl_key()) {
            return;
        }
        event.prevent_default();
        // Pixels, lines or pages.
        let unit = [1.0, 16.0, 400.0][event.delta_mode().min(2) as usize];
        let speed = if event.ctrl_key() { 0.01 } else { 0.002 };
        let factor = (-event.delta_y() * unit * speed).clamp(-1.0, 1.0).exp();
        let at = (event.client_x(), event.client_y());
        self.change(Some(at), |zoom, at, room| zoom.by(factor, at, room));
    }

    pub fn down(self, event: &PointerEvent) {
        if event.button() != 0 || self.image().is_none() {
            return;
        }
        let at = (event.client_x().into(), event.client_y().into());
        self.fingers.update_value(|fingers| {
            fingers.retain(|(id, _)| *id != event.pointer_id());
            fingers.push((event.pointer_id(), at));
        });
    }

    /// How many fingers lie on it; the mouse is one.
    pub fn count(self) -> usize {
        self.fingers.with_value(Vec::len)
    }

    pub fn moved(self, event: &PointerEvent) {
        let to = (event.client_x().into(), event.client_y().into());
        let before = self.fingers.get_value();
        let Some(at) = before.iter().position(|(id, _)| *id == event.pointer_id()) else {
            return;
        };
        self.fingers.update_value(|fingers| fingers[at].1 = to);
        match before.as_slice() {
            [(_, from)] if self.zoom.get_untracked().is_close() => {
                // Beyond the edge of the picture it is followed all the same.
                if let Some(stage) = self.stage() {
                    let _ = stage.set_pointer_capture(event.pointer_id());
                }
                let by = (to.0 - from.0, to.1 - from.1);
                self.change(None, |zoom, _, room| zoom.moved(by, room));
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
        let Some((middle, _)) = self.room() else {
            return;
        };
        let own = |points: [Point; 2]| points.map(|(x, y)| (x - middle.0, y - middle.1));
        self.change(None, |zoom, _, room| zoom.pinched(own(from), own(to), room));
    }

    pub fn up(self, event: &PointerEvent) {
        self.fingers
            .update_value(|fingers| fingers.retain(|(id, _)| *id != event.pointer_id()));
    }

    /// At a place of the window, or in the middle.
    fn change(self, at: Option<(i32, i32)>, change: impl FnOnce(Zoom, Point, Room) -> Zoom) {
        let Some((middle, room)) = self.room() else {
            return;
        };
        let at = at.map_or((0.0, 0.0), |(x, y)| {
            (f64::from(x) - middle.0, f64::from(y) - middle.1)
        });
        let before = self.zoom.get_untracked();
        let zoom = change(before, at, room);
        if zoom != before {
            self.zoom.set(zoom);
        }
    }

    fn stage(self) -> Option<web_sys::HtmlDivElement> {
        self.stage.get_value()?.try_get_untracked().flatten()
    }

    /// Only pictures come closer: films and sounds have their own controls.
    fn image(self) -> Option<HtmlImageElement> {
        let found = self
            .stage()?
            .query_selector(":scope > img")
            .ok()
            .flatten()?;
        found.dyn_into().ok()
    }

    /// The middle of the room in the window, and the room.
    fn room(self) -> Option<(Point, Room)> {
        let image = self.image()?;
        let drawn = image.get_bounding_client_rect();
        let Zoom { x, y, .. } = self.zoom.get_untracked();
        let middle = (
            drawn.left() + drawn.width() / 2.0 - x,
            drawn.top() + drawn.height() / 2.0 - y,
        );
        let room = Room {
            width: image.client_width().into(),
            height: image.client_height().into(),
            picture: (image.natural_width().into(), image.natural_height().into()),
        };
        Some((middle, room))
    }
}
