//! Pictures are brought closer by the wheel, by keys, by two fingers and by pressing twice, and moved about
//! with one; several of them in step. What comes of it is decided in the studio.

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

/// A key moves the picture so far, in px.
const MOVE: f64 = 80.0;

/// How the pictures on a stage are seen.
#[derive(Clone, Copy)]
pub struct Zooming {
    /// The way is in parts of the sides of the room that each picture has.
    zoom: RwSignal<Zoom>,
    /// How large the picture is drawn as a whole, as a multiple of its own size.
    fit: RwSignal<Option<f64>>,
    stage: StoredValue<Option<NodeRef<Div>>>,
    /// Selects the pictures on the stage.
    pictures: &'static str,
    /// The fingers that lie on the stage, by their ids, where each was last.
    fingers: StoredValue<Vec<(i32, Point)>>,
}

impl Zooming {
    pub fn new(pictures: &'static str) -> Self {
        Self {
            zoom: RwSignal::new(Zoom::default()),
            fit: RwSignal::new(None),
            stage: StoredValue::new(None),
            pictures,
            fingers: StoredValue::new(Vec::new()),
        }
    }

    /// Follows what is done on a stage, for as long as the view lives in which this is called.
    pub fn follow(self, stage: NodeRef<Div>) {
        self.stage.set_value(Some(stage));
        let listeners = StoredValue::new_local(Vec::new());
        effect(move || {
            let Some(stage) = stage.get() else {
                return;
            };
            let may_prevent = EventListenerOptions::enable_prevent_default();
            let listen = |name: &'static str, done: Box<dyn Fn(&Event)>| {
                EventListener::new_with_options(&stage, name, may_prevent, move |event| done(event))
            };
            listeners.set_value(vec![
                listen("pointerdown", on(move |event| self.down(event))),
                listen("pointermove", on(move |event| self.moved(event))),
                listen("pointerup", on(move |event| self.up(event))),
                listen("pointercancel", on(move |event| self.up(event))),
                listen("wheel", on(move |event| self.wheel(event))),
                listen("dblclick", on(move |event| self.pressed_twice(event))),
                // The picture is moved about, not dragged away.
                listen("dragstart", Box::new(Event::prevent_default)),
            ]);
        });
    }

    /// Pictures are seen as a whole again.
    pub fn reset(self) {
        self.fingers.set_value(Vec::new());
        if self.zoom.get_untracked() != Zoom::default() {
            self.zoom.set(Zoom::default());
        }
    }

    /// As often as a dialog opens or closes, and no more: what is close stays so from one picture to the next.
    pub fn reset_by(self, is_open: Signal<bool>) {
        let is_open = memo(move || is_open.get());
        effect(move || {
            follow_memo(is_open);
            self.reset();
        });
    }

    pub fn is_close(self) -> bool {
        self.zoom.get().is_close()
    }

    /// For the style sheet.
    pub fn transform(self) -> String {
        let Zoom { scale, x, y } = self.zoom.get();
        let (x, y) = (x * 100.0, y * 100.0);
        format!("translate({x:.3}%, {y:.3}%) scale({scale:.3})")
    }

    /// Finds out anew how the picture fits: it was loaded, or its room has changed.
    pub fn measure(self) {
        let scale = self.zoom.get_untracked().scale;
        let fit = self.pictures().first().and_then(|picture| {
            // Not rounded, as what the layout says of it is.
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

    /// `43%` of its own pixels; empty while they are not known.
    pub fn percent(self) -> String {
        let percent = percent(self.zoom.get().scale, self.fit.get());
        percent.map_or_else(String::new, |percent| format!("{percent}%"))
    }

    /// For the style sheet: what is to be seen of a picture that has the room's size.
    pub fn clip(self) -> Option<String> {
        let zoom = self.zoom.get();
        let cut = zoom.cut().map(|part| format!("{:.3}%", part * 100.0));
        zoom.is_close().then(|| format!("inset({})", cut.join(" ")))
    }

    /// The button that is pressed for it; none where nothing comes closer.
    pub fn button(self, has_picture: Memo<bool>) -> AnyView {
        dynamic(move || match has_picture.get() {
            true => view! {
                <button
                    class="icon-button"
                    type="button"
                    aria-label="Zoom"
                    title="Zoom: wheel, + and -, or press the picture twice"
                    aria-pressed=text(move || self.is_close().to_string())
                    on:click=handler(move |_| self.turn())
                >
                    <Glyph icon=LuZoomIn />
                </button>
            }
            .into_any(),
            false => ().into_any(),
        })
    }

    /// Closer, or as a whole again, about the middle.
    fn turn(self) {
        self.change(None, |zoom, at, room| zoom.toggled(at, room));
    }

    fn pressed_twice(self, event: &MouseEvent) {
        let is_other = event_target::<Element>(event).closest("a, button");
        if is_other.is_ok_and(|it| it.is_none()) {
            event.prevent_default();
            let at = (event.client_x().into(), event.client_y().into());
            self.change(Some(at), |zoom, at, room| zoom.toggled(at, room));
        }
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

    /// Keys that come from within a dialog which has no others.
    pub fn keys(self, event: &KeyboardEvent) {
        let has_modifier = event.ctrl_key() || event.alt_key() || event.meta_key();
        if !has_modifier && self.key(event) {
            event.prevent_default();
        }
    }

    /// The wheel, or two fingers on a touchpad, which come as a wheel with Ctrl. Where the page scrolls, the
    /// wheel alone is for that.
    fn wheel(self, event: &WheelEvent) {
        let body = self.stage();
        let body = body.and_then(|stage| stage.closest(".lightbox-body, .comparison-body").ok()?);
        let scrolls = body.is_some_and(|body| body.scroll_height() > body.client_height() + 1);
        if self.pictures().is_empty() || (scrolls && !event.ctrl_key()) {
            return;
        }
        event.prevent_default();
        // Pixels, lines or pages.
        let unit = [1.0, 16.0, 400.0][event.delta_mode().min(2) as usize];
        let speed = if event.ctrl_key() { 0.01 } else { 0.002 };
        let factor = (-event.delta_y() * unit * speed).clamp(-1.0, 1.0).exp();
        let at = (event.client_x().into(), event.client_y().into());
        self.change(Some(at), |zoom, at, room| zoom.by(factor, at, room));
    }

    fn down(self, event: &PointerEvent) {
        if event.button() != 0 || self.pictures().is_empty() {
            return;
        }
        let at = (event.client_x().into(), event.client_y().into());
        self.fingers.update_value(|fingers| {
            fingers.retain(|(id, _)| *id != event.pointer_id());
            fingers.push((event.pointer_id(), at));
        });
    }

    fn moved(self, event: &PointerEvent) {
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
                self.change(Some(*from), |zoom, _, room| zoom.moved(by, room));
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
        self.change(Some(from[0]), |zoom, at, room| {
            let middle = (from[0].0 - at.0, from[0].1 - at.1);
            let own = |points: [Point; 2]| points.map(|(x, y)| (x - middle.0, y - middle.1));
            zoom.pinched(own(from), own(to), room)
        });
    }

    fn up(self, event: &PointerEvent) {
        self.fingers
            .update_value(|fingers| fingers.retain(|(id, _)| *id != event.pointer_id()));
    }

    /// At a place of the window, or in the middle.
    fn change(self, at: Option<Point>, change: impl FnOnce(Zoom, Point, Viewport) -> Zoom) {
        let Some((middle, room)) = self.room(at) else {
            return;
        };
        let at = at.map_or((0.0, 0.0), |(x, y)| (x - middle.0, y - middle.1));
        let before = self.zoom.get_untracked();
        let zoom = change(before.to_px(room), at, room).to_fractions(room);
        if zoom != before {
            self.zoom.set(zoom);
        }
    }

    fn stage(self) -> Option<web_sys::HtmlDivElement> {
        self.stage.get_value()?.try_get_untracked().flatten()
    }

    /// Only pictures come closer: films and sounds have their own controls.
    fn pictures(self) -> Vec<HtmlImageElement> {
        let Some(stage) = self.stage() else {
            return Vec::new();
        };
        let found = stage.get_elements_by_tag_name("img");
        let found = (0..found.length()).filter_map(|at| found.item(at));
        let found = found.filter(|it| it.matches(self.pictures) == Ok(true));
        found.filter_map(|it| it.dyn_into().ok()).collect()
    }

    /// The middle in the window of the room of the picture at this place, or of the first one, and the room.
    fn room(self, at: Option<Point>) -> Option<(Point, Viewport)> {
        let Zoom { x, y, .. } = self.zoom.get_untracked();
        let rooms = self.pictures().into_iter().map(|picture| {
            let drawn = picture.get_bounding_client_rect();
            let room = Viewport {
                width: picture.client_width().into(),
                height: picture.client_height().into(),
                picture: (
                    picture.natural_width().into(),
                    picture.natural_height().into(),
                ),
            };
            let middle = (
                drawn.left() + drawn.width() / 2.0 - x * room.width,
                drawn.top() + drawn.height() / 2.0 - y * room.height,
            );
            (middle, room)
        });
        let rooms: Vec<_> = rooms.collect();
        let is_meant = |((middle_x, middle_y), room): &&(Point, Viewport)| {
            at.is_some_and(|(x, y)| {
                2.0 * (x - middle_x).abs() <= room.width
                    && 2.0 * (y - middle_y).abs() <= room.height
            })
        };
        rooms.iter().find(is_meant).or(rooms.first()).copied()
    }
}

/// Events of one kind only.
fn on<E: JsCast>(done: impl Fn(&E) + 'static) -> Box<dyn Fn(&Event)> {
    Box::new(move |event| {
        if let Some(event) = event.dyn_ref::<E>() {
            done(event);
        }
    })
}
