//! Facts about uploads by which Generate decides whether it may submit after a wait.

use std::cell::RefCell;

use atelier_contract::{Draft, ModelId};
use atelier_engine::Millis;
use atelier_studio::form::media_list::MediaList;
use atelier_studio::form::upload::acceptance::Support;
use atelier_studio::form::upload::pending::{is_delivery, is_same_list};
use leptos::prelude::*;

use super::{STORE, remove_of_form, support};
use crate::browser::clock;
use crate::reactive::until::until;
use crate::state::catalog::Load;
use crate::state::contexts::Contexts;

thread_local! {
    /// Whether a batch follows which files get into the single form.
    static FOLLOWED: ArcRwSignal<bool> = ArcRwSignal::new(false);
    /// The ids of the uploads that the page started by itself.
    static AUTOMATIC: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    /// The models whose forms were filled with other values, and when.
    static REPLACED: RefCell<Vec<(ModelId, Millis)>> = const { RefCell::new(Vec::new()) };
}

/// Marks an upload as one that the page started by itself, so that it does not count as a change of the form.
pub fn mark_automatic(id: u32) {
    AUTOMATIC.with_borrow_mut(|automatic| automatic.push(id));
}

pub(super) fn is_automatic(id: u32) -> bool {
    AUTOMATIC.with_borrow(|automatic| automatic.contains(&id))
}

/// A moment, after which URLs were put into fields.
#[derive(Clone, Copy, PartialEq)]
pub struct Moment(usize);

/// Returns the present moment.
pub fn moment() -> Moment {
    Moment(STORE.with_borrow(|store| store.delivered.len()))
}

fn followed() -> ArcRwSignal<bool> {
    FOLLOWED.with(Clone::clone)
}

/// Says that a batch follows which files get into the single form, until the current owner is disposed.
pub fn follow_deliveries() {
    followed().set(true);
    on_cleanup(|| followed().set(false));
}

/// Returns whether a batch follows which files get into the single form; tracked.
pub fn are_deliveries_followed() -> bool {
    followed().get()
}

/// Records that the page has put a URL into a field that was not uploaded, such as the data of an output.
pub fn note_delivered(parameter: &str, url: &str) {
    let delivered = (0, parameter.to_owned(), url.to_owned());
    STORE.with_borrow_mut(|store| store.delivered.push(delivered));
}

impl Moment {
    /// Whether the URLs that were put into fields since this moment are all that has changed in a draft.
    pub fn has_only_deliveries(self, before: &Draft, now: &Draft) -> bool {
        STORE.with_borrow(|store| {
            let delivered = store.delivered.iter().skip(self.0);
            let delivered = delivered.map(|(_, parameter, url)| (parameter.as_str(), url.as_str()));
            is_delivery(before, now, &delivered.collect::<Vec<_>>())
        })
    }

    /// The same for the list of a parameter.
    pub fn has_same_list(self, parameter: &str, before: &MediaList, now: &MediaList) -> bool {
        STORE.with_borrow(|store| {
            let delivered = store.delivered.iter().skip(self.0);
            let urls = delivered.filter(|(_, of, _)| of == parameter);
            let urls: Vec<&str> = urls.map(|(.., url)| url.as_str()).collect();
            is_same_list(before, now, &urls)
        })
    }
}

/// Removes the uploads of a model's form because it is filled with other values, which the uploads would overwrite. Those
/// from before a reload are deleted when they are read.
pub fn replace_form(model: &ModelId) {
    remove_of_form(model);
    REPLACED.with_borrow_mut(|replaced| {
        replaced.retain(|(other, _)| other != model);
        replaced.push((model.clone(), clock::now()));
    });
}

/// Whether a model's form was filled with other values after this time.
pub(super) fn is_replaced_since(model: &ModelId, at: Millis) -> bool {
    REPLACED.with_borrow(|replaced| {
        let mut replaced = replaced.iter();
        replaced.any(|(other, time)| other == model && *time >= at)
    })
}

/// Returns whether the service accepts uploads, once that is known; [`Support::Unknown`] if its models can't be read.
pub async fn known_support(all: Contexts) -> Support {
    until(move || match (support(all), all.catalog.models()) {
        (Support::Unknown, Load::Failed(_)) => Some(Support::Unknown),
        (Support::Unknown, _) => None,
        (known, _) => Some(known),
    })
    .await
}
