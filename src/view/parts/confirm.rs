use leptos::html::Dialog;
use leptos::prelude::*;

use crate::boxed::handler;

/// A button that asks once more before it does what cannot be undone.
#[component]
pub fn ConfirmButton(
    label: &'static str,
    /// What will happen, in full; asked for when the dialog opens.
    #[prop(into)]
    question: Signal<String>,
    /// What the button in the dialog says.
    confirm: &'static str,
    #[prop(into)] on_confirm: Callback<()>,
) -> AnyView {
    let dialog = NodeRef::<Dialog>::new();
    let open = move |_| {
        if let Some(dialog) = dialog.get_untracked() {
            // It fails only while the dialog is open already.
            let _ = dialog.show_modal();
        }
    };
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <button class="button quiet" type="button" on:click=handler(open)>
            {label}
        </button>
        <dialog node_ref=dialog aria-label=label>
            <p>{question}</p>
            <div class="row dialog-foot">
                <button class="button" type="button" autofocus on:click=handler(move |_| close())>
                    "Keep"
                </button>
                <button
                    class="button danger"
                    type="button"
                    on:click=handler(move |_| {
                        on_confirm.run(());
                        close();
                    })
                >
                    {confirm}
                </button>
            </div>
        </dialog>
    }
    .into_any()
}
