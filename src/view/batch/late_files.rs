//! Gives the files of the single form whose uploads end later to the rows of lines that were copied from the form before.
//! Otherwise these rows would be sent without the files.

use std::cell::RefCell;

use atelier_contract::{Draft, ModelId};
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::effect;
use crate::state::contexts::contexts;
use crate::state::uploads;

/// The form of a model when its batch was left, and the uploads whose URLs were not in it yet.
struct Left {
    model: ModelId,
    form: Draft,
    /// The ids of the uploads, with their parameters.
    uploads: Vec<(u32, String)>,
}

thread_local! {
    static LEFT: RefCell<Vec<Left>> = const { RefCell::new(Vec::new()) };
}

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
    if let Some(left) = take_left(&schema.model) {
        // The user may have chosen another file since, which is not for the batch.
        let late = left
            .uploads
            .into_iter()
            .filter(|(id, _)| uploads::are_delivered(&[*id], &before));
        let late: Vec<(u32, String)> = late.collect();
        for (_, name) in late {
            match left.form.get(&name).cloned() {
                Some(entry) => before.set(name, entry),
                None => before.reset(&name),
            }
        }
    }
    keep_when_left(schema.model.clone(), composer.single_form);
    uploads::follow_deliveries();
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

fn take_left(model: &ModelId) -> Option<Left> {
    LEFT.with_borrow_mut(|all| {
        let at = all.iter().position(|left| left.model == *model)?;
        Some(all.swap_remove(at))
    })
}

/// Remembers the form when the batch is left during an upload: the fields of the form will get the file.
fn keep_when_left(model: ModelId, single_form: RwSignal<Draft>) {
    let session = contexts().session;
    on_cleanup(move || {
        let address = session.settings_untracked().address;
        let uploads = uploads::in_progress(address.as_str(), &model);
        let form = single_form.try_get_untracked();
        if let Some(form) = form.filter(|_| !uploads.is_empty()) {
            LEFT.with_borrow_mut(|all| {
                all.push(Left {
                    model,
                    form,
                    uploads,
                })
            });
        }
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
