//! The values that the user has typed for secret parameters. They are only in the memory of this tab, until it is closed or
//! reloaded. Each value is for one model of one service.

use std::cell::RefCell;

use atelier_contract::{Draft, ModelId, Schema};
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::state::session::Session;

/// The typed values for one model of one service.
struct Typed {
    address: String,
    /// Contains only the secret parameters.
    schema: Schema,
    draft: ArcRwSignal<Draft>,
}

thread_local! {
    static TYPED: RefCell<Vec<Typed>> = const { RefCell::new(Vec::new()) };
}

/// Returns the contents of the fields for a model's secrets.
pub fn typed(session: Session, schema: &Schema) -> RwSignal<Draft> {
    let address = session.settings_untracked().address.to_string();
    let schema = schema.of_secrets();
    let draft = TYPED.with_borrow_mut(|all| {
        let is_same = |it: &&mut Typed| it.address == address && it.schema.model == schema.model;
        if let Some(known) = all.iter_mut().find(is_same) {
            known.schema = schema;
            return known.draft.clone();
        }
        let draft = ArcRwSignal::new(Draft::default());
        all.push(Typed {
            address,
            schema,
            draft: draft.clone(),
        });
        draft
    });
    draft.into()
}

/// Returns the values of a model's secrets. Empty if one of them is missing or invalid.
pub fn values(address: &str, model: &ModelId) -> Map<String, Value> {
    let input = TYPED.with_borrow(|all| {
        let is_same = |it: &&Typed| it.address == address && it.schema.model == *model;
        let known = all.iter().find(is_same)?;
        let input = known.schema.validate(&known.draft.read_untracked(), false);
        input.ok()
    });
    input.map_or_else(Map::new, |input| input.values().clone())
}

/// Whether a reload would lose a typed secret; not tracked.
pub fn is_any_typed() -> bool {
    TYPED.with_borrow(|all| all.iter().any(|it| !it.draft.read_untracked().is_empty()))
}

/// Clears the secrets for the models of a service.
pub fn forget(address: &str) {
    let typed: Vec<ArcRwSignal<Draft>> = TYPED.with_borrow(|all| {
        let of_service = all.iter().filter(|it| it.address == address);
        of_service.map(|it| it.draft.clone()).collect()
    });
    for draft in typed {
        if !draft.read_untracked().is_empty() {
            draft.set(Draft::default());
        }
    }
}

/// Returns whether a secret is missing or invalid; not tracked.
pub fn is_any_missing(session: Session, schema: &Schema) -> bool {
    let typed = typed(session, schema);
    let values = schema.of_secrets().validate(&typed.read_untracked(), false);
    values.is_err()
}

/// Moves the secrets of a draft, which may come from a file or a link, to their own fields. Returns whether the draft had any.
pub fn take_from(session: Session, draft: &mut Draft, schema: &Schema) -> bool {
    let found = schema.take_secrets(draft);
    if !found.is_empty() {
        typed(session, schema).update(|typed| {
            for (name, entry) in found.iter() {
                typed.set(name, entry.clone());
            }
        });
    }
    !found.is_empty()
}

/// Returns a draft without secrets, which may be stored.
pub fn without(draft: &Draft, model: &ModelId) -> Draft {
    let mut draft = draft.clone();
    TYPED.with_borrow(|all| {
        for known in all.iter().filter(|it| it.schema.model == *model) {
            for (parameter, _) in known.schema.parameters() {
                draft.reset(&parameter.name);
            }
        }
    });
    draft
}

#[cfg(test)]
mod tests {
    use atelier_contract::{Entry, Parameters};
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Guards against secrets that a reload for a newer release loses after their form was left, and against those of an
    /// earlier user.
    #[wasm_bindgen_test]
    fn typed_secrets_are_noticed_until_they_are_forgotten() {
        const ADDRESS: &str = "https://a.example";
        let draft = ArcRwSignal::new(Draft::default());
        let typed = Typed {
            address: ADDRESS.into(),
            schema: Schema {
                model: ModelId::new("image", "strata"),
                parameters: Parameters::default(),
                secrets: Parameters::default(),
            },
            draft: draft.clone(),
        };
        TYPED.with_borrow_mut(|all| all.push(typed));
        assert!(!is_any_typed());
        draft.update(|draft| draft.set("api_key", Entry::Text("k".into())));
        forget("https://b.example");
        assert!(is_any_typed());
        forget(ADDRESS);
        assert!(!is_any_typed() && draft.read_untracked().is_empty());
    }
}
