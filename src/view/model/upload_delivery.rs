//! Adopts the stored uploads of a form, and puts finished ones into the draft while the form with their fields is not shown.

use atelier_contract::{Draft, Entry, ModelId, Schema};
use atelier_studio::form::media_list;
use leptos::prelude::*;

use super::mode::Mode;
use super::shown_schema::ShownSchema;
use crate::reactive::boxed::effect;
use crate::state::contexts::contexts;
use crate::state::media_lists;
use crate::state::uploads::{self, FieldKey};
use crate::view::form::output_input;

/// Adopts the stored uploads of a model's form. Puts the URLs of finished uploads into the draft in all modes other than
/// [`Mode::One`], in which the fields do that. A batch takes the settings of the single form from the draft.
pub fn follow(model: ModelId, shown: ShownSchema, draft: RwSignal<Draft>, mode: Memo<Mode>) {
    let all = contexts();
    let session = all.session;
    uploads::adopt_for(all, &model);
    effect(move || {
        // Rows that were copied from the form before must get the files as well.
        let is_early = mode.get() == Mode::Batch && !uploads::are_deliveries_followed();
        if mode.get() == Mode::One || is_early {
            return;
        }
        let address = session.settings().address;
        for (upload, uploaded) in uploads::finished(address.as_str(), &model) {
            let parameter = &upload.key.parameter;
            let is_changed =
                draft.with_untracked(|draft| draft.get(parameter) != upload.before.as_ref());
            if is_changed {
                uploads::remove(upload.id);
                continue;
            }
            output_input::note_uploaded(upload.id, &uploaded.url);
            draft.update(|draft| draft.set(parameter.clone(), Entry::Text(uploaded.url)));
            uploads::deliver(upload.id);
        }
        let Some(schema) = shown.get().loaded().cloned() else {
            return;
        };
        for list in uploads::lists_of_form(address.as_str(), &model) {
            deliver_list(&list, &schema, draft);
        }
    });
}

/// Puts the URLs of the finished uploads of a list into the draft. Tracks the uploads.
fn deliver_list(key: &FieldKey, schema: &Schema, draft: RwSignal<Draft>) {
    let uploads = uploads::of_list(key);
    let Some((parameter, _)) = schema.parameter(&key.parameter) else {
        return;
    };
    let entry = draft.with_untracked(|draft| draft.get(&key.parameter).cloned());
    let shown = entry.or_else(|| parameter.default_entry());
    // The form reports a value that is not a list.
    let Some(before) = media_list::addresses(shown.as_ref()) else {
        return;
    };
    let update = media_lists::update(key, &before, &uploads, false);
    if update.addresses != before {
        let entry = media_list::entry(parameter, update.addresses);
        draft.update(|draft| match entry {
            Some(entry) => draft.set(key.parameter.clone(), entry),
            None => draft.reset(&key.parameter),
        });
    }
    for (id, url) in update.done {
        output_input::note_uploaded(id, &url);
        uploads::deliver(id);
    }
}
