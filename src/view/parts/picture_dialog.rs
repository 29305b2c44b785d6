//! What the dialogs that change a picture share: the frame, the question before changes are discarded, and the tools.

use icondata_core::Icon;
use leptos::html::Dialog;
use leptos::prelude::*;
use web_sys::{Event, KeyboardEvent, MouseEvent};

use super::glyph::Glyph;
use super::question::Question;
use super::{dialog, focus_return};
use crate::reactive::boxed::{handler, text};

/// A dialog that changes a picture.
pub struct PictureDialog {
    pub is_open: Signal<bool>,
    /// The element id of the heading.
    pub heading_id: &'static str,
    /// Asked before changes are discarded.
    pub question: Question,
    /// Its heading, its text, and the label of the button that keeps the changes.
    pub question_texts: [&'static str; 3],
    /// Closes the dialog, whatever was changed.
    pub close: fn(),
    /// Called when the dialog is closed without a decision of the user.
    pub interrupt: fn(),
}

/// Returns the dialog. `leave`: the user wants to close it. `key`: handles a key anywhere in it.
pub fn view(
    of: PictureDialog,
    mut leave: impl FnMut() + 'static,
    key: impl FnMut(KeyboardEvent) + 'static,
    contents: impl Fn() -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let PictureDialog {
        is_open,
        heading_id,
        question,
        question_texts: [asked, reason, keep],
        close,
        interrupt,
    } = of;
    let element = NodeRef::<Dialog>::new();
    dialog::follow(element, is_open);
    focus_return::follow(is_open);
    question.follow(is_open);
    view! {
        <dialog
            class="picture-dialog"
            node_ref=element
            aria-labelledby=heading_id
            on:cancel=handler(move |event: Event| {
                event.prevent_default();
                leave();
            })
            // Chromium closes a dialog at the second Esc without asking.
            on:close=dialog::closed(interrupt)
            on:keydown=handler(key)
        >
            {dialog::contents(is_open, contents)}
        </dialog>
        {question
            .view(
                asked,
                text(move || reason.to_owned()),
                keep,
                "Discard",
                "danger",
                Callback::new(move |()| close()),
            )}
    }
    .into_any()
}

/// Returns the heading with the announcement of the last action.
pub fn head(id: &'static str, heading: &'static str, status: RwSignal<String>) -> AnyView {
    view! {
        <header class="row">
            <h2 id=id>{heading}</h2>
            <p class="hint" role="status" prop:textContent=status></p>
        </header>
    }
    .into_any()
}

/// Returns the problem, and the buttons that end the dialog.
pub fn foot(
    problem: RwSignal<String>,
    leave: impl Fn() + 'static,
    done: impl Fn() + 'static,
) -> AnyView {
    view! {
        <div class="row dialog-foot">
            <p class="problem" role="alert" prop:textContent=problem></p>
            <button class="button" type="button" on:click=handler(move |_: MouseEvent| leave())>
                "Cancel"
            </button>
            <button class="button primary" type="button" on:click=handler(move |_: MouseEvent| done())>
                "Done"
            </button>
        </div>
    }
    .into_any()
}

/// Returns the button of a tool.
pub fn tool(
    label: &'static str,
    icon: Icon,
    is_disabled: Signal<bool>,
    act: impl Fn() + 'static,
) -> AnyView {
    view! {
        <button
            class="button small"
            type="button"
            title=label
            // Not `disabled`: the button would lose the focus.
            aria-disabled=text(move || is_disabled.get().to_string())
            on:click=handler(move |_: MouseEvent| act())
        >
            <Glyph icon />
            <span class="tool-label">{label}</span>
        </button>
    }
    .into_any()
}
