use leptos::html::Dialog;
use leptos::prelude::*;

use super::dialog;
use super::root_mark::RootMark;
use crate::reactive::boxed::{after, handler};

/// A question before something is done that costs or can't be undone. The safe answer has the focus.
#[derive(Clone, Copy, Default)]
pub struct Question {
    dialog: NodeRef<Dialog>,
    is_open: RwSignal<bool>,
    on_no: Option<Callback<()>>,
    /// The answer to it was yes.
    is_confirmed: StoredValue<bool>,
}

impl Question {
    /// Calls back whenever it was closed without a yes: at the safe answer, or with Esc.
    pub fn or_else(self, on_no: Callback<()>) -> Self {
        Self {
            on_no: Some(on_no),
            ..self
        }
    }

    pub fn ask(self) {
        self.is_confirmed.set_value(false);
        if let Some(dialog) = self.dialog.get_untracked() {
            // It fails only while the dialog is open already.
            let _ = dialog.show_modal();
            self.is_open.set(true);
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
        RootMark::Dialog.follow(self.is_open.into());
        // The dialog may go while it is open, and closes without a word.
        on_cleanup(move || {
            self.is_open.try_set(false);
        });
        let confirm = move |_| {
            self.is_confirmed.set_value(true);
            self.close();
            // Closing lays out the whole page: what was asked about comes after that.
            after(0, move || {
                on_yes.try_run(());
            })
            .forget();
        };
        let closed = move |_: web_sys::Event| {
            self.is_open.try_set(false);
            let is_no = self.is_confirmed.try_get_value() == Some(false);
            if let Some(on_no) = self.on_no.filter(|_| is_no) {
                on_no.try_run(());
            }
        };
        view! {
            <dialog node_ref=self.dialog aria-label=label on:close=handler(closed)>
                <p translate="no">{question}</p>
                <div class="row dialog-foot">
                    // The first that can have the focus, so that it has it.
                    <button class="button" type="button" on:click=handler(move |_| self.close())>
                        {no}
                    </button>
                    <button class=format!("button {style}") type="button" on:click=handler(confirm)>
                        {yes}
                    </button>
                </div>
                {dialog::notices(self.is_open.into())}
            </dialog>
        }
        .into_any()
    }
}
