//! The preview of an edited picture, with the frame of its crop, which is dragged by its handles.

use atelier_studio::picture_edit::crop::{Crop, Handle, Size};
use atelier_studio::picture_edit::edit::Edit;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::PointerEvent;

use super::Editor;
use crate::browser::picture_canvas;
use crate::reactive::boxed::{effect, handler, memo, text, when};
use crate::view::parts::size::follow_size;

/// The maximum number of pixels of the preview.
const MAX_PIXELS: f64 = 2_000_000.0;

/// A drag of a handle.
#[derive(Clone, Copy)]
struct Drag {
    handle: Handle,
    /// The crop and the position of the pointer before.
    before: Crop,
    from: (f64, f64),
}

/// Returns the preview with the frame.
pub fn frame(editor: Editor) -> AnyView {
    let area = NodeRef::<Div>::new();
    let space = RwSignal::new((0.0, 0.0));
    follow_size(area, move |area| {
        space.set((area.client_width().into(), area.client_height().into()));
    });
    // The size of the preview in CSS px.
    let shown = move || {
        let (width, height) = editor.edit.get()?.turned_size();
        let (width, height) = (f64::from(width), f64::from(height));
        let (across, down) = space.get();
        let scale = (across / width).min(down / height).min(1.0);
        (scale > 0.0).then_some((width * scale, height * scale))
    };
    // The crop is drawn by the frame, so that a drag does not draw the picture again.
    let uncropped = memo(move || editor.edit.get().map(Edit::uncropped));
    let shown_size = memo(shown);
    effect(move || {
        let (Some(canvas), Some(edit), Some((width, height))) =
            (editor.canvas.get(), uncropped.get(), shown_size.get())
        else {
            return;
        };
        let ratio = window().device_pixel_ratio();
        let ratio = ratio.min((MAX_PIXELS / (width * height).max(1.0)).sqrt());
        let size: Size = (
            (width * ratio).ceil() as u32,
            (height * ratio).ceil() as u32,
        );
        editor.picture.with_value(|picture| {
            if let Some(picture) = picture {
                // The browser can create a canvas of the size of the view.
                let _ = picture_canvas::draw(&canvas, picture, edit, edit.crop, size);
            }
        });
    });
    let drag = RwSignal::new(None::<Drag>);
    let press = move |event: &PointerEvent, handle: Handle| {
        if let Some(edit) = editor.edit.get_untracked().filter(|_| event.button() == 0) {
            event.prevent_default();
            event.stop_propagation();
            if let Some(area) = area.get_untracked() {
                // It fails only if the pointer is gone.
                let _ = area.set_pointer_capture(event.pointer_id());
            }
            drag.set(Some(Drag {
                handle,
                before: edit.crop,
                from: (event.client_x().into(), event.client_y().into()),
            }));
        }
    };
    let moved = move |event: PointerEvent| {
        let (
            Some(Drag {
                handle,
                before,
                from,
            }),
            Some((width, _)),
        ) = (drag.get_untracked(), untrack(shown))
        else {
            return;
        };
        let by = (
            f64::from(event.client_x()) - from.0,
            f64::from(event.client_y()) - from.1,
        );
        editor.change(|edit| {
            let turned = edit.turned_size();
            let scale = f64::from(turned.0) / width;
            let by = (by.0 * scale, by.1 * scale);
            edit.crop = before.dragged(handle, by, editor.ratio.get_untracked(), turned);
        });
    };
    let end = move |_: PointerEvent| {
        if drag.get_untracked().is_some() {
            drag.set(None);
            editor.announce();
        }
    };
    let share = move |part: usize| {
        text(move || {
            let Some(edit) = editor.edit.get() else {
                return String::new();
            };
            let (width, height) = edit.turned_size();
            let Crop {
                left,
                top,
                width: across,
                height: down,
            } = edit.crop;
            let (length, of) = [
                (left, width),
                (top, height),
                (across, width),
                (down, height),
            ][part];
            format!("{:.4}%", f64::from(length) / f64::from(of) * 100.0)
        })
    };
    let side = move |is_height: bool| {
        text(move || {
            let (width, height) = shown().unwrap_or_default();
            format!("{:.2}px", if is_height { height } else { width })
        })
    };
    let handles = Handle::EDGES.map(|handle| {
        let place = |at: i8| format!("{}%", (f64::from(at) + 1.0) * 50.0);
        view! {
            <span
                class="crop-handle"
                style:left=place(handle.0)
                style:top=place(handle.1)
                style:cursor=cursor(handle)
                on:pointerdown=handler(move |event: PointerEvent| press(&event, handle))
            ></span>
        }
        .into_any()
    });
    view! {
        <div
            class="picture-stage edit-stage"
            on:pointermove=handler(moved)
            on:pointerup=handler(end)
            on:pointercancel=handler(end)
        >
            <div class="edit-area" node_ref=area>
                <div
                    class="edit-picture"
                    hidden=when(move || editor.edit.read().is_none())
                    style:width=side(false)
                    style:height=side(true)
                >
                    <canvas node_ref=editor.canvas role="img" aria-label="Preview"></canvas>
                    <div
                        class="crop-frame"
                        style:left=share(0)
                        style:top=share(1)
                        style:width=share(2)
                        style:height=share(3)
                        on:pointerdown=handler(move |event: PointerEvent| press(&event, Handle(0, 0)))
                    >
                        {handles.into_iter().collect_view()}
                    </div>
                </div>
            </div>
        </div>
    }
    .into_any()
}

fn cursor(handle: Handle) -> &'static str {
    match handle {
        Handle(0, _) => "ns-resize",
        Handle(_, 0) => "ew-resize",
        Handle(across, down) if across == down => "nwse-resize",
        _ => "nesw-resize",
    }
}
