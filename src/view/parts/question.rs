use leptos::html::Dialog;
use leptos::prelude::*;

use super::dialog;
use super::root_mark::RootMark;
use crate::reactive::boxed::{after, effect, handler};

/// A confirmation dialog for an action that costs money or can't be undone. The button that cancels has the focus.
#[derive(Clone, Copy, Default)]
pub struct Question {
    dialog: NodeRef<Dialog>,
    is_open: RwSignal<bool>,
    on_no: Option<Callback<()>>,
    /// Whether the user has confirmed.
    is_confirmed: StoredValue<bool>,
}

impl Question {
    /// Sets a callback for when the dialog is closed without confirmation: with the button that cancels or with Esc.
    pub fn or_else(self, on_no: Callback<()>) -> Self {
        Self {
            on_no: Some(on_no),
            ..self
        }
    }

    /// Opens the dialog.
    pub fn ask(self) {
        self.is_confirmed.set_value(false);
        if let Some(dialog) = self.dialog.get_untracked() {
            // It fails only if the dialog is already open.
            let _ = dialog.show_modal();
            self.is_open.set(true);
        }
    }

    pub fn close(self) {
        if let Some(dialog) = self.dialog.get_untracked() {
            dialog.close();
        }
    }

    /// Closes the dialog when the one that it belongs to closes. `is_open`: whether that one is open.
    pub fn follow(self, is_open: Signal<bool>) {
        effect(move || {
            if !is_open.get() {
                self.close();
            }
        });
    }

    /// Returns the dialog. `label`: its heading. `no` and `yes`: the labels of the buttons. `style`: the CSS class of
    /// the button that confirms.
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
        // A dialog that is removed while it is open fires no `close` event.
        on_cleanup(move || {
            self.is_open.try_set(false);
        });
        let confirm = move |_| {
            self.is_confirmed.set_value(true);
            self.close();
            // Closing the dialog causes a layout of the whole page: run the action after that.
            after(0, move || {
                on_yes.try_run(());
            })
            .forget();
        };
        let closed = move || {
            self.is_open.try_set(false);
            let is_cancelled = self.is_confirmed.try_get_value() == Some(false);
            if let Some(on_no) = self.on_no.filter(|_| is_cancelled) {
                on_no.try_run(());
            }
        };
        view! {
            <dialog node_ref=self.dialog aria-label=label on:close=dialog::closed(closed)>
                <h2>{label}</h2>
                <p translate="no">{question}</p>
                <div class="row dialog-foot">
                    // The first focusable element gets the initial focus.
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
