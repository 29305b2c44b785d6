use leptos::prelude::*;

use super::question::Question;
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
    #[prop(default = "button quiet")] class: &'static str,
) -> AnyView {
    let asked = Question::default();
    view! {
        <button class=class type="button" on:click=handler(move |_| asked.ask())>
            {label}
        </button>
        {asked.view(label, question, "Keep", confirm, "danger", on_confirm)}
    }
    .into_any()
}
