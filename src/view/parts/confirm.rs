use leptos::prelude::*;

use super::question::Question;
use super::status_note::StatusNote;
use crate::reactive::boxed::{derived, handler};

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
    /// Before it asks.
    #[prop(optional, into)]
    on_ask: Option<Callback<()>>,
    /// Nothing is to be done after all.
    #[prop(optional, into)]
    on_keep: Option<Callback<()>>,
    /// Why there is nothing to be done, where there is not.
    #[prop(optional, into)]
    disabled_reason: Option<Signal<Option<&'static str>>>,
    #[prop(default = "button quiet")] class: &'static str,
) -> AnyView {
    let asked = Question::default();
    let asked = on_keep.map_or(asked, |on_keep| asked.or_else(on_keep));
    let can_be_vain = disabled_reason.is_some();
    let disabled_reason = derived(move || disabled_reason.and_then(|reason| reason.get()));
    let answer = StatusNote::default();
    let ask = move |_| {
        // Touch screens show no titles.
        if let Some(reason) = disabled_reason.get_untracked() {
            return answer.say(reason.to_owned());
        }
        if let Some(on_ask) = on_ask {
            on_ask.run(());
        }
        asked.ask();
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
        {can_be_vain.then(|| answer.view())}
        {asked.view(label, question, "Keep", confirm, "danger", on_confirm)}
    }
    .into_any()
}
