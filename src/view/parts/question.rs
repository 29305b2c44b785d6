use leptos::html::Dialog;
use leptos::prelude::*;

use crate::boxed::{after, handler};

/// A question before something is done that costs or can't be undone. The safe answer has the focus.
#[derive(Clone, Copy, Default)]
pub struct Question {
    dialog: NodeRef<Dialog>,
}

impl Question {
    pub fn ask(self) {
        if let Some(dialog) = self.dialog.get_untracked() {
            // It fails only while the dialog is open already.
            let _ = dialog.show_modal();
        }
    }

    pub fn close(self) {
        if let Some(dialog) = self.dialog.get_untracked() {
            dialog.close();
        }
    }

    /// `label` names the dialog; `style` is the class of the answer that does it.
    pub fn view(
        self,
        label: &'static str,
        question: Signal<String>,
        no: &'static str,
        yes: &'static str,
        style: &'static str,
        on_yes: Callback<()>,
    ) -> AnyView {
        let confirm = move |_| {
            self.close();
            // To close it has the whole page laid out: what was asked about comes after that.
            after(0, move || {
                on_yes.try_run(());
            })
            .forget();
        };
        view! {
            <dialog node_ref=self.dialog aria-label=label>
                <p>{question}</p>
                <div class="row dialog-foot">
                    <button
                        class="button"
                        type="button"
                        autofocus
                        on:click=handler(move |_| self.close())
                    >
                        {no}
                    </button>
                    <button class=format!("button {style}") type="button" on:click=handler(confirm)>
                        {yes}
                    </button>
                </div>
            </dialog>
        }
        .into_any()
    }
}
