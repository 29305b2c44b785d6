use leptos::html::{Dialog, Textarea};
use leptos::prelude::*;

use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler, when};
use crate::state::contexts::contexts;
use crate::view::parts::dialog;

/// A dialog with the text that the browser did not allow to copy, selected so that the user can copy it.
#[component]
pub fn CopyManually() -> impl IntoView {
    let uncopied = contexts().uncopied;
    let dialog = NodeRef::<Dialog>::new();
    let field = NodeRef::<Textarea>::new();
    let is_open = when(move || uncopied.read().is_some());
    dialog::follow(dialog, is_open);
    effect(move || {
        if is_open.get() {
            after_frame(move || {
                if let Some(field) = field.try_get_untracked().flatten() {
                    field.select();
                }
            });
        }
    });
    let close = move || uncopied.set(None);
    // The field exists only while it is shown.
    let shown = dynamic(move || {
        let Some(text) = uncopied.get() else {
            return ().into_any();
        };
        view! {
            <p>"The browser did not allow copying. The text is selected: copy it from here."</p>
            <textarea
                node_ref=field
                readonly
                autofocus
                rows="4"
                aria-label="Text to copy"
                dir="auto"
                prop:value=text
            ></textarea>
            <div class="row dialog-foot">
                <button class="button" type="button" on:click=handler(move |_| close())>
                    "Done"
                </button>
            </div>
        }
        .into_any()
    });
    view! {
        <dialog
            class="copy-by-hand"
            node_ref=dialog
            aria-label="Copy manually"
            on:close=dialog::closed(close)
        >
            {shown}
        </dialog>
    }
}
