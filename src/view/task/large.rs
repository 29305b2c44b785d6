use leptos::html::Dialog;
use leptos::prelude::*;

use super::favorite;
use super::output_view::ShownOutput;
use crate::boxed::{dynamic, handler};
use crate::view::parts::media::MediaView;

/// Lies over a picture: pressed, it shows that as large as the window is.
pub fn enlarge(shown: &ShownOutput, label: String) -> AnyView {
    let dialog = NodeRef::<Dialog>::new();
    let is_open = RwSignal::new(false);
    let open = move |_| {
        is_open.set(true);
        if let Some(dialog) = dialog.get_untracked() {
            // It fails only while the dialog is open already.
            let _ = dialog.show_modal();
        }
    };
    let close = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    let heart = favorite::output_heart(&shown.task.key, shown.position);
    let (shown, kind) = (shown.clone(), shown.kind);
    let picture = move || {
        if !is_open.get() {
            return ().into_any();
        }
        let url = match shown.copy.get() {
            copy if copy.is_empty() => shown.url.clone(),
            copy => copy,
        };
        view! { <MediaView url kind label=label.clone() /> }.into_any()
    };
    view! {
        <button
            class="enlarge"
            type="button"
            aria-label="Show large"
            title="Show large"
            on:click=handler(open)
        ></button>
        <dialog
            class="large"
            node_ref=dialog
            aria-label="Output"
            on:close=handler(move |_: web_sys::Event| is_open.set(false))
            on:click=handler(close)
        >
            {dynamic(picture)}
            <div class="row large-foot">
                {heart} <button class="button" type="button" autofocus>
                    "Close"
                </button>
            </div>
        </dialog>
    }
    .into_any()
}
