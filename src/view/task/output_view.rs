use leptos::prelude::*;

use super::output_recovery;
use super::shown_output::ShownOutput;
use crate::reactive::boxed::{dynamic, memo};
use crate::state::contexts::{Contexts, contexts};
use crate::state::known_files;
use crate::view::parts::media::{Gone, MediaView};

/// An output: the copy in this browser, which needs no service, or else the file at its address. For a dead address, see
/// [`output_recovery::recover`].
#[component]
pub fn OutputView(shown: ShownOutput, label: String) -> AnyView {
    let contexts = contexts();
    contexts.runner.shown(shown.task.key.output(shown.position));
    let was_looked_for = RwSignal::new(false);
    output_recovery::look_for_copy(contexts, &shown, was_looked_for);
    let is_known = memo(move || was_looked_for.get());
    let is_copy_broken = StoredValue::new(false);
    dynamic(move || match is_known.get() {
        true => media(contexts, &shown, is_copy_broken, &label),
        false => ().into_any(),
    })
}

fn media(
    contexts: Contexts,
    shown: &ShownOutput,
    is_copy_broken: StoredValue<bool>,
    label: &str,
) -> AnyView {
    let (copy, message) = (shown.copy, shown.message);
    if !message.read().is_empty() && copy.read().is_empty() {
        return view! { <Gone words=message.get() /> }.into_any();
    }
    let url = Some(copy.get())
        .filter(|copy| !copy.is_empty())
        .unwrap_or_else(|| shown.url.clone());
    // A copy has no file extension in its address, so the kind is always that of the original address.
    let kind = known_files::kind(&shown.task, &shown.url);
    let (shown, label) = (shown.clone(), label.to_owned());
    let on_gone = move |()| {
        if copy.read_untracked().is_empty() {
            output_recovery::recover(contexts, shown.clone());
        } else if !is_copy_broken.get_value() {
            is_copy_broken.set_value(true);
            copy.set(String::new());
        }
    };
    view! { <MediaView url kind label on_gone /> }.into_any()
}
