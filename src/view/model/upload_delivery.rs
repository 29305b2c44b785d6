//! Adopts the stored uploads of a form, and puts finished ones into the draft while the form with their fields is not shown.

use atelier_contract::{Draft, Entry, ModelId};
use leptos::prelude::*;

use super::mode::Mode;
use crate::reactive::boxed::effect;
use crate::state::contexts::contexts;
use crate::state::uploads;

/// Adopts the stored uploads of a model's form. Puts the URLs of finished uploads into the draft in all modes other than [`Mode::One`], in which the fields do that. A
/// batch takes the settings of the single form from the draft.
pub fn follow(model: ModelId, draft: RwSignal<Draft>, mode: Memo<Mode>) {
    let all = contexts();
    let session = all.session;
    uploads::adopt_for(all, &model);
    effect(move || {
        if mode.get() == Mode::One {
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
            draft.update(|draft| draft.set(parameter.clone(), Entry::Text(uploaded.url)));
            uploads::deliver(upload.id);
        }
    });
}
