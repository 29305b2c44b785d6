use leptos::prelude::*;

use super::output_recovery;
use super::shown_output::ShownOutput;
use crate::boxed::dynamic;
use crate::contexts::{Contexts, contexts};
use crate::view::parts::media::{Gone, MediaView};

/// An output that outlives its address: see [`output_recovery::recover`].
#[component]
pub fn OutputView(shown: ShownOutput, label: String) -> AnyView {
    let contexts = contexts();
    contexts.runner.shown(shown.task.key.output(shown.position));
    dynamic(move || media(contexts, &shown, &label))
}

fn media(contexts: Contexts, shown: &ShownOutput, label: &str) -> AnyView {
    let (copy, words) = (shown.copy, shown.words);
    if !words.read().is_empty() && copy.read().is_empty() {
        return view! { <Gone words=words.get() /> }.into_any();
    }
    let url = Some(copy.get())
        .filter(|copy| !copy.is_empty())
        .unwrap_or_else(|| shown.url.clone());
    let (shown, kind, label) = (shown.clone(), shown.kind, label.to_owned());
    let on_gone = move |()| {
        let shown = shown.clone();
        if copy.read_untracked().is_empty() {
            output_recovery::recover(contexts, shown);
        }
    };
    view! { <MediaView url kind label on_gone /> }.into_any()
}
