//! The lists of files in forms. They belong to the page as a whole, so that the order of items stays while another page of
//! the app is shown and uploads continue.

use std::cell::RefCell;

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
