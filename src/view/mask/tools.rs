//! The tools of the mask dialog, and the keys that work in all of it.

use atelier_studio::mask::bitmap::Point;
use atelier_studio::mask::png::White;
use atelier_studio::mask::view::View;
use atelier_studio::mask::words::{self, Tool};
use icondata_lu::{
    LuBrush, LuContrast, LuEraser, LuMaximize, LuRectangleHorizontal, LuRedo2, LuTrash2, LuUndo2,
    LuZoomIn, LuZoomOut,
};
use leptos::prelude::*;
use web_sys::{KeyboardEvent, MouseEvent};

use super::board::Board;
use crate::reactive::boxed::{handler, text, when};
use crate::view::parts::glyph::Glyph;
use crate::view::parts::picture_dialog;

/// The tools.
pub fn tools(board: Board) -> AnyView {
    let is_loading = when(move || board.view.read().is_none());
    let button = |label: &'static str, icon, act: fn(Board), is_disabled: Signal<bool>| {
        picture_dialog::tool(label, icon, is_disabled, move || act(board))
    };
    let choices = Tool::ALL.map(|tool| {
        let icon = match tool {
            Tool::Brush => LuBrush,
            Tool::Eraser => LuEraser,
            Tool::Rectangle => LuRectangleHorizontal,
        };
        view! {
            <button
                class="button small"
                type="button"
                aria-pressed=text(move || (board.tool.get() == tool).to_string())
                on:click=handler(move |_: MouseEvent| board.set_tool(tool))
            >
                <Glyph icon />
                {tool.label()}
            </button>
        }
        .into_any()
    });
    let set_size = move |event| {
        if let Ok(size) = event_target_value(&event).parse() {
            board.size.set(size);
        }
    };
    let pressure = move |event| board.uses_pressure.set(event_target_checked(&event));
    view! {
        <div class="picture-tools">
            <div class="row" role="group" aria-label="Tool">
                {choices.into_iter().collect_view()}
            </div>
            <label class="brush-size">
                "Brush size"
                <input
                    type="range"
                    min="1"
                    max=text(move || board.largest.get().to_string())
                    aria-valuetext=text(move || words::brush(board.size.get()))
                    prop:value=text(move || board.size.get().to_string())
                    on:input=handler(set_size)
                />
                <span translate="no" prop:textContent=text(move || words::brush(board.size.get()))></span>
            </label>
            <label class="tick" hidden=when(move || !board.has_pen.get())>
                <input type="checkbox" prop:checked=board.uses_pressure on:change=handler(pressure) />
                "Pen pressure changes the size"
            </label>
            <div class="row" role="group" aria-label="Changes">
                {button("Invert", LuContrast, Board::invert, is_loading)}
                {button("Undo", LuUndo2, Board::undo, when(move || !board.steps.get().0))}
                {button("Redo", LuRedo2, Board::redo, when(move || !board.steps.get().1))}
                {button("Clear", LuTrash2, Board::clear, is_loading)}
            </div>
            <div class="row" role="group" aria-label="View">
                {button("Zoom in", LuZoomIn, |board| board.zoom(true), is_loading)}
                {button("Zoom out", LuZoomOut, |board| board.zoom(false), is_loading)}
                {button("Whole picture", LuMaximize, Board::reset_zoom, is_loading)}
            </div>
        </div>
    }
    .into_any()
}

/// The choice of what white means in the file.
pub fn meaning(white: RwSignal<White>, choose: impl Fn(White) + Clone + 'static) -> AnyView {
    let choices = [White::Changes, White::Stays].map(|choice| {
        let choose = choose.clone();
        view! {
            <label class="tick">
                <input
                    type="radio"
                    name="mask-white"
                    prop:checked=text_is(white, choice)
                    on:change=handler(move |_: web_sys::Event| choose(choice))
                />
                {words::white_label(choice)}
            </label>
        }
        .into_any()
    });
    view! {
        <fieldset class="mask-meaning">
            <legend class="hint">"You paint what changes. In the file:"</legend>
            {choices.into_iter().collect_view()}
        </fieldset>
    }
    .into_any()
}

fn text_is(white: RwSignal<White>, choice: White) -> Signal<bool> {
    when(move || white.get() == choice)
}

/// The outline of the brush, or the crosshair, and the rectangle that is being drawn.
pub fn cursor(board: Board) -> AnyView {
    let brush = move |part: usize| {
        text(move || {
            let (view, cursor) = (board.view.get(), board.cursor.get());
            let (Some(view), Some(cursor)) = (view, cursor) else {
                return String::new();
            };
            let (x, y) = view.to_view(cursor.at);
            let side = f64::from(board.size.get()) * view.scale();
            share(view, (x - side / 2.0, y - side / 2.0), (side, side))[part].clone()
        })
    };
    let rectangle = move |part: usize| {
        text(move || {
            let (view, corners) = (board.view.get(), board.rectangle.get());
            let (Some(view), Some((from, to))) = (view, corners) else {
                return String::new();
            };
            let (a, b) = (view.to_view(from), view.to_view(to));
            let start = (a.0.min(b.0), a.1.min(b.1));
            let sides = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
            share(view, start, sides)[part].clone()
        })
    };
    let is_crosshair = move || board.cursor.get().is_some_and(|it| it.is_crosshair);
    view! {
        <div
            class="mask-brush"
            class:crosshair=is_crosshair
            hidden=when(move || board.cursor.read().is_none() || board.view.read().is_none())
            style:left=brush(0)
            style:top=brush(1)
            style:width=brush(2)
            style:height=brush(3)
        ></div>
        <div
            class="mask-rectangle"
            hidden=when(move || board.rectangle.read().is_none())
            style:left=rectangle(0)
            style:top=rectangle(1)
            style:width=rectangle(2)
            style:height=rectangle(3)
        ></div>
    }
    .into_any()
}

/// Returns left, top, width and height of a part of the view, as CSS percentages.
fn share(view: View, (left, top): Point, (width, height): Point) -> [String; 4] {
    let across = |length: f64| format!("{:.4}%", length / view.viewport.width.max(1.0) * 100.0);
    let down = |length: f64| format!("{:.4}%", length / view.viewport.height.max(1.0) * 100.0);
    [across(left), down(top), across(width), down(height)]
}

impl Board {
    /// Returns left, top, width and height of the picture in the stage, as CSS percentages; tracked.
    pub fn place_of_picture(self) -> [String; 4] {
        let Some(view) = self.view.get() else {
            return ["0%", "0%", "100%", "100%"].map(str::to_owned);
        };
        let (scale, (width, height)) = (view.scale(), view.viewport.picture);
        share(view, view.origin(), (width * scale, height * scale))
    }
}

/// Handles a key anywhere in the dialog.
pub fn key(board: Board, event: &KeyboardEvent) {
    let has_command = event.ctrl_key() || event.meta_key();
    let key = event.key().to_ascii_lowercase();
    match (has_command, event.shift_key(), key.as_str()) {
        (true, false, "z") => board.undo(),
        (true, true, "z") | (true, false, "y") => board.redo(),
        (false, _, "[") => board.resize_brush(false),
        (false, _, "]") => board.resize_brush(true),
        (false, _, "+" | "=") => board.zoom(true),
        (false, _, "-" | "_") => board.zoom(false),
        (false, _, "0") => board.reset_zoom(),
        _ => return,
    }
    event.prevent_default();
}
