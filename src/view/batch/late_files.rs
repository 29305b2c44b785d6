//! Gives the files of the single form whose uploads end while the batch is shown to the rows that were copied from the form
//! before. Otherwise these rows would be sent without the files.

use atelier_contract::Draft;
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::effect;

pub fn follow(composer: Composer) {
    let schema = composer.schema();
    let media = schema.parameters().filter(|(parameter, _)| {
        parameter
            .media()
            .or_else(|| parameter.media_list())
            .is_some()
    });
    let names: Vec<String> = media.map(|(parameter, _)| parameter.name.clone()).collect();
    if names.is_empty() {
        return;
    }
    let mut before = composer.single_form.get_untracked();
    effect(move || {
        let now = composer.single_form.get();
        let earlier = std::mem::replace(&mut before, now.clone());
        untrack(|| {
            for name in &names {
                replace(composer, name, &earlier, &now);
            }
        });
    });
}

/// Replaces the value of a parameter in the rows that were copied from the single form.
fn replace(composer: Composer, name: &str, before: &Draft, now: &Draft) {
    let (from, to) = (before.get(name), now.get(name));
    if from != to {
        composer.change(|table, schema| {
            table.replace_in_lines(name, from, to, schema);
            Ok(())
        });
    }
}
