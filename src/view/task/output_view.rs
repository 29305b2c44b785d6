use std::sync::Arc;

use crate::contexts::{Contexts, contexts};
use atelier_engine::output::OutputKind;
use atelier_engine::{Millis, Task};
use leptos::prelude::*;

use super::output_recovery;
use crate::boxed::dynamic;
use crate::view::parts::media::{Gone, MediaView};

/// One output of a task, as a view has it.
#[derive(Clone)]
pub struct ShownOutput {
    pub task: Arc<Task>,
    pub url: String,
    /// From 0.
    pub position: usize,
    pub kind: OutputKind,
    /// Since when the task is before the person.
    pub since: Millis,
    /// The address of the copy, once it is shown.
    pub copy: RwSignal<String>,
    /// What is said instead of showing it; empty while it is shown.
    pub words: RwSignal<String>,
}

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
