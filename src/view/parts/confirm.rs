use leptos::prelude::*;

use super::question::Question;
use super::status_note::StatusNote;
use crate::reactive::boxed::{derived, handler};

/// A button that asks for confirmation before an action that can't be undone.
#[component]
pub fn ConfirmButton(
    label: &'static str,
    /// The text of the dialog: what will happen.
    #[prop(into)]
    question: Signal<String>,
    /// The label of the button in the dialog.
    confirm: &'static str,
    #[prop(into)] on_confirm: Callback<()>,
    /// Called before the dialog opens.
    #[prop(optional, into)]
    on_ask: Option<Callback<()>>,
    /// Called if the user cancels.
    #[prop(optional, into)]
    on_keep: Option<Callback<()>>,
    /// Why the button is disabled; `None` if it is enabled.
    #[prop(optional, into)]
    disabled_reason: Option<Signal<Option<&'static str>>>,
    #[prop(default = "button quiet")] class: &'static str,
) -> AnyView {
    let dialog = Question::default();
    let dialog = on_keep.map_or(dialog, |on_keep| dialog.or_else(on_keep));
    let can_be_disabled = disabled_reason.is_some();
    let disabled_reason = derived(move || disabled_reason.and_then(|reason| reason.get()));
    let answer = StatusNote::default();
    let ask = move |_| {
        // Show the reason as text, because touch screens show no tooltips.
        if let Some(reason) = disabled_reason.get_untracked() {
            return answer.say(reason.to_owned());
        }
        if let Some(on_ask) = on_ask {
            on_ask.run(());
        }
        dialog.ask();
    };
    view! {
        <button
            class=class
            type="button"
            aria-disabled=derived(move || disabled_reason.get().map(|_| "true"))
            title=disabled_reason
            on:click=handler(ask)
        >
            {label}
        </button>
        {can_be_disabled.then(|| answer.view())}
        {dialog.view(label, question, "Keep", confirm, "danger", on_confirm)}
    }
    .into_any()
}
