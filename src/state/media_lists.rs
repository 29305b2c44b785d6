//! The lists of files in forms. They belong to the page as a whole, so that the order of items stays while another page of
//! the app is shown and uploads continue.

use std::cell::RefCell;

use atelier_contract::ModelId;
use atelier_studio::form::media_list::MediaList;
use leptos::prelude::*;

use crate::state::uploads::FieldKey;

/// The state of a field.
#[derive(Clone, Default)]
pub struct ListState {
    pub list: ArcRwSignal<MediaList>,
    /// A message about what was added; empty if there is none.
    pub message: ArcRwSignal<String>,
}

thread_local! {
    static LISTS: RefCell<Vec<(FieldKey, ListState)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the state of a field, and whether it was just created. `key`: the field without an item.
pub fn of_field(key: &FieldKey) -> (ListState, bool) {
    LISTS.with_borrow_mut(|lists| {
        if let Some((_, state)) = lists.iter().find(|(other, _)| other == key) {
            return (state.clone(), false);
        }
        let state = ListState::default();
        lists.push((key.clone(), state.clone()));
        (state, true)
    })
}

/// Returns the lists of a model's form, with their parameters; not tracked.
pub fn of_form(address: &str, model: &ModelId) -> Vec<(String, MediaList)> {
    LISTS.with_borrow(|lists| {
        let is_of_form =
            |(key, _): &&(FieldKey, ListState)| key.address == address && key.model == *model;
        let found = lists.iter().filter(is_of_form);
        let found = found.map(|(key, state)| (key.parameter.clone(), state.list.get_untracked()));
        found.collect()
    })
}
