//! The picture with the mask over it: pointers, wheel and keys. `studio::mask` has the pixels and computes the view.

use atelier_studio::gallery::zoom::{STEP, Viewport, Zoom};
use atelier_studio::mask::bitmap::{Area, Bitmap, Point};
use atelier_studio::mask::drawing::Drawing;
use atelier_studio::mask::view::{self, View};
use atelier_studio::mask::words::{self, Tool};
use gloo_events::{EventListener, EventListenerOptions};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{
    CanvasPattern, CanvasRenderingContext2d, Element, Event, HtmlCanvasElement, KeyboardEvent,
    PointerEvent, WheelEvent,
};

use crate::reactive::boxed::effect;
use crate::view::parts::focus;
use crate::view::parts::size::follow_size;

/// The maximum number of pixels of the layer with the mask. It covers the view, not the picture.
const MAX_PIXELS: f64 = 4_000_000.0;

/// The color of the mask over the picture, and those of its stripes: one of them is visible on any picture.
const PAINT: &str = "rgb(255 45 85 / 0.5)";
const STRIPES: [&str; 2] = ["rgb(255 255 255 / 0.75)", "rgb(0 0 0 / 0.6)"];

/// The distance between two stripes of the same color, in CSS px.
const STRIPE_DISTANCE: f64 = 14.0;

/// The distance by which an arrow key moves the crosshair, in pixels of the view; with Shift, and without.
const KEY_STEPS: (f64, f64) = (64.0, 8.0);

/// The smallest side of a rectangle that is drawn with a pointer, in pixels of the view. A click draws none.
const MIN_RECTANGLE: f64 = 3.0;

/// The maximum distance of a finger that still counts as the start of a pinch, in pixels of the view.
const MAX_PINCH_START: f64 = 40.0;

/// The number of the button of a pen that erases.
const ERASER_BUTTON: i16 = 5;

/// The position of the brush.
#[derive(Clone, Copy, PartialEq)]
pub struct Cursor {
    /// In pixels of the picture.
    pub at: Point,
    /// Whether it was moved with keys last.
    pub is_crosshair: bool,
}

/// What the pressed pointer or key does.
#[derive(Clone, Copy, PartialEq)]
enum Gesture {
    None,
    /// Paints or erases; the last point is in pixels of the picture.
    Line {
        last: Point,
        is_painted: bool,
    },
    /// Draws a rectangle from this corner.
    Rectangle(Point),
    /// Moves the picture.
    Pan,
    /// Zooms with two fingers.
    Pinch,
}

/// The picture with the mask over it.
#[derive(Clone, Copy)]
pub struct Board {
    pub tool: RwSignal<Tool>,
    /// The diameter of the brush, in pixels of the picture.
    pub size: RwSignal<u32>,
    pub largest: RwSignal<u32>,
    /// `None` until the picture is loaded.
    pub view: RwSignal<Option<View>>,
    pub cursor: RwSignal<Option<Cursor>>,
    /// The corners of the rectangle that is being drawn.
    pub rectangle: RwSignal<Option<(Point, Point)>>,
    /// The announcement of the last action.
    pub status: RwSignal<String>,
    /// Whether there is something to undo, and to redo.
    pub steps: RwSignal<(bool, bool)>,
    /// Whether a pen was used.
    pub has_pen: RwSignal<bool>,
    /// Whether the pressure of a pen changes the size.
    pub uses_pressure: RwSignal<bool>,
    pub stage: NodeRef<Div>,
    pub canvas: NodeRef<Canvas>,
    drawing: StoredValue<Option<Drawing>>,
    gesture: StoredValue<Gesture>,
    /// The pressed pointers by their ids, with the last position of each in the view.
    pointers: StoredValue<Vec<(i32, Point)>>,
    /// Whether Space is held while the pointer is over the picture.
    is_space_held: StoredValue<bool>,
    /// Whether a pen is pressed. The hand that holds it may touch the screen.
    is_pen_pressed: StoredValue<bool>,
    /// The distance that the pressed pointer has moved, in pixels of the view.
    distance: StoredValue<f64>,
    /// Whether the mask is being written and must not change.
    pub is_locked: RwSignal<bool>,
}

impl Board {
    pub fn new() -> Self {
        Self {
            tool: RwSignal::new(Tool::Brush),
            size: RwSignal::new(1),
            largest: RwSignal::new(1),
            view: RwSignal::new(None),
            cursor: RwSignal::new(None),
            rectangle: RwSignal::new(None),
            status: RwSignal::new(String::new()),
            steps: RwSignal::new((false, false)),
            has_pen: RwSignal::new(false),
            uses_pressure: RwSignal::new(true),
            stage: NodeRef::new(),
            canvas: NodeRef::new(),
            drawing: StoredValue::new(None),
            gesture: StoredValue::new(Gesture::None),
            pointers: StoredValue::new(Vec::new()),
            is_space_held: StoredValue::new(false),
            is_pen_pressed: StoredValue::new(false),
            distance: StoredValue::new(0.0),
            is_locked: RwSignal::new(false),
        }
    }

    /// Handles the events of the stage until the current owner is disposed.
    pub fn follow(self) {
        let listeners = StoredValue::new_local(Vec::new());
        effect(move || {
            let Some(stage) = self.stage.get() else {
                return;
            };
            let may_prevent = EventListenerOptions::enable_prevent_default();
            let listen = |name: &'static str, handle: Box<dyn Fn(&Event)>| {
                EventListener::new_with_options(&stage, name, may_prevent, move |event| {
                    handle(event);
                })
            };
            listeners.set_value(vec![
                listen("pointerdown", of(move |event| self.pointer_down(event))),
                listen("pointermove", of(move |event| self.pointer_moved(event))),
                listen("pointerup", of(move |event| self.pointer_up(event))),
                listen("pointercancel", of(move |event| self.pointer_up(event))),
                listen("pointerleave", of(move |event| self.pointer_left(event))),
                listen("wheel", of(move |event| self.wheel(event))),
                listen("keydown", of(move |event| self.key_down(event))),
                listen("keyup", of(move |event| self.key_up(event))),
                listen("blur", Box::new(move |_| self.blurred())),
                listen("dragstart", Box::new(Event::prevent_default)),
                listen("contextmenu", Box::new(Event::prevent_default)),
            ]);
        });
        follow_size(self.stage, move |_| self.resize());
    }

    /// Shows a picture of this size, with the mask that was drawn before, if any.
    pub fn load(self, size: (u32, u32), before: Option<Bitmap>) {
        if self.view.get_untracked().is_some() {
            return;
        }
        let bitmap = before.unwrap_or_else(|| Bitmap::new(size.0, size.1));
        self.status.set(words::coverage(&bitmap));
        self.drawing.set_value(Some(Drawing::new(bitmap)));
        self.largest.set(view::largest_brush(size));
        self.size.set(view::initial_brush(size));
        self.view.set(Some(View {
            viewport: Viewport {
                width: 0.0,
                height: 0.0,
                picture: (size.0.into(), size.1.into()),
            },
            zoom: Zoom::default(),
        }));
        self.resize();
    }

    /// Returns the mask, if the picture is loaded.
    pub fn bitmap(self) -> Option<Bitmap> {
        self.drawing
            .try_with_value(|drawing| Some(drawing.as_ref()?.bitmap().clone()))?
    }

    /// Returns whether the mask differs from the one that was opened.
    pub fn is_changed(self) -> bool {
        let is_changed = |drawing: &Option<Drawing>| drawing.as_ref().map(Drawing::is_changed);
        self.drawing.try_with_value(is_changed).flatten() == Some(true)
    }

    pub fn undo(self) {
        self.settle();
        let is_done = self.change(Drawing::undo);
        self.announce_change(is_done, "Undone.", "There is nothing to undo.");
    }

    pub fn redo(self) {
        self.settle();
        let is_done = self.change(Drawing::redo);
        self.announce_change(is_done, "Redone.", "There is nothing to redo.");
    }

    pub fn invert(self) {
        self.settle();
        let is_done = self.change(|drawing| {
            drawing.invert();
            true
        });
        self.announce_change(is_done, "Inverted.", words::NO_PICTURE);
    }

    pub fn clear(self) {
        self.settle();
        let is_done = self.change(|drawing| {
            drawing.clear();
            true
        });
        self.announce_change(is_done, "Cleared.", words::NO_PICTURE);
    }

    fn announce_change(self, is_done: bool, done: &str, not_done: &str) {
        match is_done {
            true => {
                self.changed();
                self.redraw(None);
                self.status
                    .update(|status| status.insert_str(0, &format!("{done} ")));
            }
            false => self.status.set(not_done.to_owned()),
        }
    }

    pub fn set_tool(self, tool: Tool) {
        self.rectangle.set(None);
        self.tool.set(tool);
        self.status.set(tool.explanation().to_owned());
    }

    /// Makes the brush larger or smaller.
    pub fn resize_brush(self, is_larger: bool) {
        let largest = self.largest.get_untracked();
        let size = view::next_brush(self.size.get_untracked(), is_larger, largest);
        self.size.set(size);
        self.status.set(words::brush_changed(size));
    }

    /// Zooms in or out around the crosshair, or else around the center.
    pub fn zoom(self, is_in: bool) {
        let factor = if is_in { STEP } else { 1.0 / STEP };
        let view = self.view.get_untracked();
        let crosshair = self.cursor.get_untracked().filter(|it| it.is_crosshair);
        let at = view.zip(crosshair).map(|(view, it)| view.to_view(it.at));
        self.change_zoom(at, |zoom, at, viewport| zoom.by(factor, at, viewport));
        let scale = self
            .view
            .get_untracked()
            .map_or(1.0, |view| view.zoom.scale);
        self.status
            .set(format!("Zoom {} %.", (scale * 100.0).round()));
    }

    /// Shows the whole picture.
    pub fn reset_zoom(self) {
        self.change_zoom(None, |_, _, _| Zoom::default());
        self.status.set("The whole picture is shown.".to_owned());
    }

    /// Changes the mask. Returns false while there is none.
    fn change(self, change: impl FnOnce(&mut Drawing) -> bool) -> bool {
        if self.is_locked.get_untracked() {
            return false;
        }
        self.drawing
            .try_update_value(|drawing| drawing.as_mut().is_some_and(change))
            .unwrap_or_default()
    }

    /// Draws within a stroke.
    fn draw(self, draw: impl FnOnce(&mut Drawing) -> Option<Area>) {
        let mut area = None;
        self.change(|drawing| {
            area = draw(drawing);
            true
        });
        if let Some(area) = area {
            self.redraw(Some(area));
        }
    }

    /// Updates what depends on the mask after a change.
    fn changed(self) {
        self.drawing.with_value(|drawing| {
            if let Some(drawing) = drawing {
                self.steps.set((drawing.can_undo(), drawing.can_redo()));
                self.status.set(words::coverage(drawing.bitmap()));
            }
        });
    }

    /// Fits the layer of the mask to the stage.
    fn resize(self) {
        let (Some(canvas), Some(stage)) = (self.canvas.get_untracked(), self.stage.get_untracked())
        else {
            return;
        };
        let bounds = stage.get_bounding_client_rect();
        let area = (bounds.width() * bounds.height()).max(1.0);
        let ratio = window()
            .device_pixel_ratio()
            .min((MAX_PIXELS / area).sqrt());
        canvas.set_width((bounds.width() * ratio).round() as u32);
        canvas.set_height((bounds.height() * ratio).round() as u32);
        self.view.update(|view| {
            if let Some(view) = view {
                view.viewport.width = canvas.width().into();
                view.viewport.height = canvas.height().into();
                view.zoom = view.zoom.moved((0.0, 0.0), view.viewport);
            }
        });
        self.redraw(None);
    }

    /// Draws an area of the mask again, or all of it.
    fn redraw(self, area: Option<Area>) {
        let context = self.canvas.get_untracked().and_then(|canvas| {
            let context = canvas.get_context("2d").ok()??;
            context.dyn_into::<CanvasRenderingContext2d>().ok()
        });
        let (Some(context), Some(view)) = (context, self.view.get_untracked()) else {
            return;
        };
        self.drawing.with_value(|drawing| {
            let Some(drawing) = drawing else { return };
            let bitmap = drawing.bitmap();
            let shown = view.shown(area.unwrap_or(bitmap.area()));
            match area {
                Some(_) => context.clear_rect(
                    shown.left.into(),
                    shown.top.into(),
                    shown.right.saturating_sub(shown.left).into(),
                    shown.bottom.saturating_sub(shown.top).into(),
                ),
                None => {
                    let Viewport { width, height, .. } = view.viewport;
                    context.clear_rect(0.0, 0.0, width, height);
                }
            }
            match self.paint(&context) {
                Some(paint) => context.set_fill_style_canvas_pattern(&paint),
                None => context.set_fill_style_str(PAINT),
            }
            for (y, start, end) in view.runs(bitmap, shown) {
                context.fill_rect(start.into(), y.into(), (end - start).into(), 1.0);
            }
        });
    }

    /// Returns the striped paint of the mask. The stripes keep their width at all zooms.
    fn paint(self, context: &CanvasRenderingContext2d) -> Option<CanvasPattern> {
        let (canvas, view) = (self.canvas.get_untracked()?, self.view.get_untracked()?);
        let ratio = view.viewport.width / f64::from(canvas.client_width().max(1));
        let side = (STRIPE_DISTANCE * ratio).round().max(4.0);
        let tile: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
        tile.set_width(side as u32);
        tile.set_height(side as u32);
        let tile_context = tile.get_context("2d").ok()??;
        let tile_context: CanvasRenderingContext2d = tile_context.dyn_into().ok()?;
        tile_context.set_fill_style_str(PAINT);
        tile_context.fill_rect(0.0, 0.0, side, side);
        tile_context.set_line_width((1.5 * ratio).max(1.0));
        for (at, color) in STRIPES.into_iter().enumerate() {
            tile_context.set_stroke_style_str(color);
            tile_context.begin_path();
            // The stripes continue in the next tiles.
            for offset in [-1.0, 0.0, 1.0] {
                let x = (offset + 0.5 * at as f64) * side;
                tile_context.move_to(x - side * 0.5, side * 1.5);
                tile_context.line_to(x + side * 1.5, -side * 0.5);
            }
            tile_context.stroke();
        }
        context
            .create_pattern_with_html_canvas_element(&tile, "repeat")
            .ok()?
    }

    /// Changes the zoom around a point of the view, or around its center.
    fn change_zoom(self, at: Option<Point>, change: impl FnOnce(Zoom, Point, Viewport) -> Zoom) {
        let Some(before) = self.view.get_untracked() else {
            return;
        };
        let Viewport { width, height, .. } = before.viewport;
        let at = at.map_or((0.0, 0.0), |(x, y)| (x - width / 2.0, y - height / 2.0));
        let zoom = change(before.zoom, at, before.viewport);
        if zoom != before.zoom {
            self.view.set(Some(View { zoom, ..before }));
            self.redraw(None);
        }
    }

    fn pan(self, by: Point) {
        self.change_zoom(None, |zoom, _, viewport| zoom.moved(by, viewport));
    }

    /// Returns the place of an event in the view.
    fn place(self, x: i32, y: i32) -> Option<Point> {
        let canvas = self.canvas.get_untracked()?;
        let bounds = canvas.get_bounding_client_rect();
        let ratio = f64::from(canvas.width()) / bounds.width().max(1.0);
        let place = (f64::from(x) - bounds.left(), f64::from(y) - bounds.top());
        Some((place.0 * ratio, place.1 * ratio))
    }

    fn pointer_down(self, event: &PointerEvent) {
        let at = self.place(event.client_x(), event.client_y());
        let (Some(at), Some(view), Some(stage)) =
            (at, self.view.get_untracked(), self.stage.get_untracked())
        else {
            return;
        };
        // Otherwise the browser would select text or drag the picture.
        event.prevent_default();
        if event.pointer_type() == "touch" && self.is_pen_pressed.get_value() {
            return;
        }
        focus::in_place(&stage);
        self.end_keys();
        // It fails only if the pointer is gone.
        let _ = stage.set_pointer_capture(event.pointer_id());
        self.pointers.update_value(|pointers| {
            pointers.retain(|(id, _)| *id != event.pointer_id());
            pointers.push((event.pointer_id(), at));
        });
        let is_second = self.pointers.with_value(Vec::len) > 1;
        if is_second {
            // The first finger of a pinch paints a little before the second one comes.
            match self.distance.get_value() < MAX_PINCH_START {
                true => self.abort(),
                false => self.settle(),
            }
            return self.gesture.set_value(Gesture::Pinch);
        }
        self.distance.set_value(0.0);
        let is_pen = event.pointer_type() == "pen";
        self.is_pen_pressed.set_value(is_pen);
        self.has_pen.set(self.has_pen.get_untracked() || is_pen);
        let is_pan = event.button() == 1 || (event.button() == 0 && self.is_space_held.get_value());
        let is_eraser = event.button() == ERASER_BUTTON;
        let point = view.to_picture(at);
        match (is_pan, event.button()) {
            (true, _) => self.gesture.set_value(Gesture::Pan),
            (_, 0 | ERASER_BUTTON) => {
                let tool = self.tool.get_untracked();
                let tool = if is_eraser { Tool::Eraser } else { tool };
                self.begin(tool, point, self.radius(Some(event)));
            }
            _ => {}
        }
    }

    fn pointer_moved(self, event: &PointerEvent) {
        let at = self.place(event.client_x(), event.client_y());
        let (Some(at), Some(view)) = (at, self.view.get_untracked()) else {
            return;
        };
        let point = view.to_picture(at);
        // A stroke with keys continues at the crosshair, although the mouse was touched.
        let is_drawn_with_keys =
            self.pointers.with_value(Vec::is_empty) && self.gesture.get_value() != Gesture::None;
        if event.pointer_type() != "touch" && !is_drawn_with_keys {
            self.cursor.set(Some(Cursor {
                at: point,
                is_crosshair: false,
            }));
        }
        let before = self.pointers.get_value();
        let Some(index) = before.iter().position(|(id, _)| *id == event.pointer_id()) else {
            return;
        };
        let from = before[index].1;
        self.pointers
            .update_value(|pointers| pointers[index].1 = at);
        self.distance
            .update_value(|distance| *distance += (at.0 - from.0).hypot(at.1 - from.1));
        match (self.gesture.get_value(), before.as_slice()) {
            (Gesture::Line { last, is_painted }, _) => {
                self.extend(last, point, self.radius(Some(event)), is_painted);
            }
            (Gesture::Rectangle(from), _) => self.rectangle.set(Some((from, point))),
            (Gesture::Pan, [_]) => self.pan((at.0 - from.0, at.1 - from.1)),
            (Gesture::Pinch, [(_, a), (_, b)]) => {
                let Viewport { width, height, .. } = view.viewport;
                let (from, mut to) = ([*a, *b], [*a, *b]);
                to[index] = at;
                let center =
                    |points: [Point; 2]| points.map(|(x, y)| (x - width / 2.0, y - height / 2.0));
                self.change_zoom(None, |zoom, _, viewport| {
                    zoom.pinched(center(from), center(to), viewport)
                });
            }
            _ => {}
        }
    }

    fn pointer_up(self, event: &PointerEvent) {
        let at = self.place(event.client_x(), event.client_y());
        if self.release(event)
            && let (Some(at), Some(view)) = (at, self.view.get_untracked())
        {
            let is_drag = self.rectangle.get_untracked().is_some_and(|(from, _)| {
                let from = view.to_view(from);
                (from.0 - at.0).abs().max((from.1 - at.1).abs()) >= MIN_RECTANGLE
            });
            match self.gesture.get_value() {
                Gesture::Rectangle(_) if !is_drag => self.abort(),
                _ => self.end(view.to_picture(at)),
            }
        }
    }

    /// Removes a pointer. Returns whether it was the last one of its gesture.
    fn release(self, event: &PointerEvent) -> bool {
        let counts = self.pointers.try_update_value(|pointers| {
            let before = pointers.len();
            pointers.retain(|(id, _)| *id != event.pointer_id());
            (before, pointers.len())
        });
        if event.pointer_type() == "pen" {
            self.is_pen_pressed.try_set_value(false);
        }
        // The finger that remains after a pinch does not paint.
        counts == Some((1, 0))
    }

    fn pointer_left(self, event: &PointerEvent) {
        let cursor = self.cursor.get_untracked();
        if cursor.is_some_and(|it| !it.is_crosshair) && event.pointer_type() != "touch" {
            self.cursor.set(None);
        }
    }

    /// Returns the radius of the brush.
    fn radius(self, event: Option<&PointerEvent>) -> f64 {
        let pen = event
            .filter(|event| self.uses_pressure.get_untracked() && event.pointer_type() == "pen");
        let pressure = pen.map(|event| event.pressure().into());
        view::radius(self.size.get_untracked(), pressure)
    }

    /// Begins to draw at a point of the picture.
    fn begin(self, tool: Tool, at: Point, radius: f64) {
        match tool {
            Tool::Rectangle => {
                self.rectangle.set(Some((at, at)));
                self.gesture.set_value(Gesture::Rectangle(at));
            }
            Tool::Brush | Tool::Eraser => {
                self.change(|drawing| {
                    drawing.begin();
                    true
                });
                self.extend(at, at, radius, tool == Tool::Brush);
            }
        }
    }

    fn extend(self, from: Point, to: Point, radius: f64, is_painted: bool) {
        self.gesture.set_value(Gesture::Line {
            last: to,
            is_painted,
        });
        self.draw(|drawing| drawing.line(from, to, radius, is_painted));
    }

    /// Ends what was begun.
    fn end(self, at: Point) {
        let gesture = self.gesture.get_value();
        self.gesture.set_value(Gesture::None);
        match gesture {
            Gesture::Rectangle(from) => {
                self.rectangle.set(None);
                self.draw(|drawing| {
                    drawing.begin();
                    let area = drawing.rectangle(from, at, true);
                    drawing.end();
                    area
                });
                self.changed();
            }
            Gesture::Line { .. } => {
                self.change(|drawing| {
                    drawing.end();
                    true
                });
                self.changed();
            }
            Gesture::Pan | Gesture::Pinch | Gesture::None => {}
        }
    }

    /// Ends what was begun, before the mask is changed in another way.
    fn settle(self) {
        match self.gesture.get_value() {
            Gesture::Line { last, .. } => self.end(last),
            Gesture::Rectangle(_) => self.abort(),
            Gesture::Pan | Gesture::Pinch | Gesture::None => {}
        }
    }

    /// Reverts what was begun.
    fn abort(self) {
        self.gesture.set_value(Gesture::None);
        self.rectangle.set(None);
        self.draw(Drawing::abort);
    }

    /// Handles the wheel, and a pinch on a touchpad, which browsers report as a wheel event with Ctrl.
    fn wheel(self, event: &WheelEvent) {
        event.prevent_default();
        // `deltaMode` is pixels, lines or pages.
        let unit = [1.0, 16.0, 400.0][event.delta_mode().min(2) as usize];
        let speed = if event.ctrl_key() { 0.01 } else { 0.002 };
        let factor = (-event.delta_y() * unit * speed).clamp(-1.0, 1.0).exp();
        let at = self.place(event.client_x(), event.client_y());
        self.change_zoom(at, |zoom, at, viewport| zoom.by(factor, at, viewport));
    }

    fn key_down(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let length = match event.shift_key() {
            true => KEY_STEPS.0,
            false => KEY_STEPS.1,
        };
        match event.key().as_str() {
            "ArrowLeft" => self.move_crosshair((-length, 0.0)),
            "ArrowRight" => self.move_crosshair((length, 0.0)),
            "ArrowUp" => self.move_crosshair((0.0, -length)),
            "ArrowDown" => self.move_crosshair((0.0, length)),
            " " => {
                if !event.repeat() {
                    self.press_space();
                }
            }
            _ => return,
        }
        event.prevent_default();
    }

    fn key_up(self, event: &KeyboardEvent) {
        if event.key() == " " {
            event.prevent_default();
            self.is_space_held.set_value(false);
            if let Gesture::Line { last, .. } = self.gesture.get_value()
                && self.pointers.with_value(Vec::is_empty)
            {
                self.end(last);
            }
        }
    }

    /// Returns the crosshair. It appears where the pointer is, or in the center of the view.
    fn crosshair(self, view: View) -> Point {
        let Viewport { width, height, .. } = view.viewport;
        let center = view.to_picture((width / 2.0, height / 2.0));
        let at = self.cursor.get_untracked().map_or(center, |it| it.at);
        view.moved(at, (0.0, 0.0))
    }

    fn move_crosshair(self, by: Point) {
        let Some(view) = self.view.get_untracked() else {
            return;
        };
        let from = self.crosshair(view);
        let to = view.moved(from, by);
        self.cursor.set(Some(Cursor {
            at: to,
            is_crosshair: true,
        }));
        self.pan(view.distance_into_view(to));
        match self.gesture.get_value() {
            Gesture::Line { last, is_painted } => {
                self.extend(last, to, self.radius(None), is_painted);
            }
            Gesture::Rectangle(corner) => self.rectangle.set(Some((corner, to))),
            _ => {}
        }
        self.status.set(words::position(to));
    }

    /// Paints at the crosshair. While the pointer is over the picture, Space and a drag move the picture instead.
    fn press_space(self) {
        let Some(view) = self.view.get_untracked() else {
            return;
        };
        if self
            .cursor
            .get_untracked()
            .is_some_and(|it| !it.is_crosshair)
        {
            self.status.set(words::DRAG.to_owned());
            return self.is_space_held.set_value(true);
        }
        let at = self.crosshair(view);
        self.cursor.set(Some(Cursor {
            at,
            is_crosshair: true,
        }));
        match self.gesture.get_value() {
            Gesture::Rectangle(_) => self.end(at),
            Gesture::None => {
                let tool = self.tool.get_untracked();
                self.begin(tool, at, self.radius(None));
                if tool == Tool::Rectangle {
                    let corner = words::position(at);
                    self.status.set(format!("First corner: {corner}."));
                }
            }
            _ => {}
        }
    }

    /// Reverts a rectangle that was begun. Returns whether there was one.
    pub fn leave_rectangle(self) -> bool {
        let is_begun = matches!(self.gesture.get_value(), Gesture::Rectangle(_));
        if is_begun {
            self.abort();
            self.status.set("The rectangle was canceled.".to_owned());
        }
        is_begun
    }

    /// The picture has lost the focus, so the release of a key is not reported.
    fn blurred(self) {
        // The dialog may have been closed.
        if self.is_space_held.try_set_value(false).is_none() {
            self.end_keys();
        }
    }

    /// Ends what was begun with keys.
    fn end_keys(self) {
        if self.pointers.with_value(Vec::is_empty) {
            self.settle();
        }
    }
}

/// Returns a listener that ignores events of other types than `E`, and those in controls over the picture.
fn of<E: JsCast + AsRef<Event>>(handle: impl Fn(&E) + 'static) -> Box<dyn Fn(&Event)> {
    Box::new(move |event| {
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let control = target.and_then(|target| target.closest("button, a").ok().flatten());
        if let Some(event) = event.dyn_ref::<E>().filter(|_| control.is_none()) {
            handle(event);
        }
    })
}
