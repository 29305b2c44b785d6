//! The lists of files in forms. They belong to the page as a whole, so that the order of items stays while another page of
//! the app is shown and uploads continue.

use std::cell::RefCell;

use atelier_contract::ModelId;
use atelier_studio::form::media_list::{EarlierUpload, MediaList};
use atelier_studio::form::upload::state::UploadState;
use leptos::prelude::*;

use crate::state::uploads::{self, FieldKey, Upload};

/// The state of a field.
#[derive(Clone, Default)]
pub struct ListState {
    pub list: ArcRwSignal<MediaList>,
    /// A message about what was added; empty if there is none.
    pub message: ArcRwSignal<String>,
}

type Lists = Vec<(FieldKey, ListState)>;

thread_local! {
    static LISTS: RefCell<ArcRwSignal<Lists>> = RefCell::default();
}

fn lists() -> ArcRwSignal<Lists> {
    LISTS.with_borrow(Clone::clone)
}

/// Returns the state of a field. A new one gets these addresses and the uploads of the field. `key`: the field without an
/// item. Not tracked.
pub fn of_field(key: &FieldKey, addresses: &[String]) -> ListState {
    let known = |lists: &Lists| {
        let found = lists.iter().find(|(other, _)| other == key);
        found.map(|(_, state)| state.clone())
    };
    if let Some(state) = lists().with_untracked(known) {
        return state;
    }
    let uploads = untrack(|| uploads::of_list(key));
    let earlier = uploads.iter().filter_map(|upload| {
        Some(EarlierUpload {
            item: upload.key.item?,
            place: uploads::restored_place(upload.id),
            replaces: upload.replaced_address(),
        })
    });
    let earlier: Vec<EarlierUpload> = earlier.collect();
    let state = ListState::default();
    state.list.set(MediaList::new(addresses, &earlier));
    lists().update(|lists| lists.push((key.clone(), state.clone())));
    state
}

/// Returns the index of an item, if its list was shown in this visit; tracked. `key`: the field with the item.
pub fn place(key: &FieldKey) -> Option<usize> {
    let lists = lists();
    let lists = lists.read();
    let is_list = |(other, _): &&(FieldKey, ListState)| {
        let field = FieldKey {
            item: None,
            ..key.clone()
        };
        *other == field
    };
    let (_, state) = lists.iter().find(is_list)?;
    state.list.read().place(key.item?)
}

/// Removes the uploads of items that are no longer in the list. Generate does not submit if it waits for one of them.
pub fn remove_uploads(key: &FieldKey, items: &[u32]) {
    for item in items {
        let of_item = FieldKey {
            item: Some(*item),
            ..key.clone()
        };
        if let Some(upload) = untrack(|| uploads::of_field(&of_item)) {
            uploads::remove(upload.id);
        }
    }
}

/// What a list and its uploads have become.
pub struct Updated {
    /// The new value of the field.
    pub addresses: Vec<String>,
    /// The finished uploads whose URLs are part of the value now, with their URLs.
    pub done: Vec<(u32, String)>,
}

/// Updates a list to the value of its field, and puts the URLs of finished uploads into it. The caller sets the value, and
/// then calls [`uploads::deliver`]. `before`: the value of the field. `is_paused`: whether URLs must not be put into the
/// field at present.
pub fn update(key: &FieldKey, before: &[String], uploads: &[Upload], is_paused: bool) -> Updated {
    let state = of_field(key, before);
    let earlier = state.list.get_untracked();
    let mut now = earlier.clone();
    let dropped = now.follow(before);
    remove_uploads(key, &dropped);
    let (mut shown, mut done) = (Vec::new(), Vec::new());
    for upload in uploads {
        let Some(item) = upload.key.item.filter(|item| !dropped.contains(item)) else {
            continue;
        };
        // Its item was removed, or has another address.
        if upload.is_renewed && now.place(item).is_none() {
            uploads::remove(upload.id);
            continue;
        }
        match &upload.state {
            UploadState::Done(uploaded) if !is_paused => {
                let url = uploaded.url.clone();
                match now.set(item, Some(url.clone())) {
                    true => done.push((upload.id, url)),
                    // Its item was removed.
                    false => uploads::remove(upload.id),
                }
            }
            _ => shown.push(item),
        }
    }
    now.sync_uploads(&shown);
    let addresses = now.addresses();
    if now != earlier {
        state.list.set(now);
    }
    Updated { addresses, done }
}

/// Returns the lists of a model's form, with their parameters; not tracked.
pub fn of_form(address: &str, model: &ModelId) -> Vec<(String, MediaList)> {
    lists().with_untracked(|lists| {
        let is_of_form =
            |(key, _): &&(FieldKey, ListState)| key.address == address && key.model == *model;
        let found = lists.iter().filter(is_of_form);
        let found = found.map(|(key, state)| (key.parameter.clone(), state.list.get_untracked()));
        found.collect()
    })
}
