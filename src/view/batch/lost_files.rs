//! Rows whose files the service no longer has are not sent.

use std::collections::HashSet;

use atelier_contract::Draft;
use atelier_studio::compose::table::Table;
use atelier_studio::form::media_list;
use atelier_studio::form::upload::expiry;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{after, effect, spawn};
use crate::state::contexts::contexts;
use crate::state::uploads;

/// How long the rows stay the same before their files are checked, in milliseconds.
const CHECK_DELAY_MS: u32 = 500;

/// The maximum number of files that are checked. The others are known to be lost only once they expire.
const MAX_CHECKED: usize = 100;

/// Returns the items that would be sent.
fn items(composer: Composer) -> Vec<Draft> {
    let mut items = composer.table.with_untracked(Table::waiting);
    composer.offered.with_untracked(|offered| {
        let offered = offered.iter().flat_map(|offered| offered.items.iter());
        items.extend(offered.cloned());
    });
    items
}

/// Returns the addresses in items, each once.
fn addresses(items: &[Draft]) -> HashSet<String> {
    let entries = items.iter().flat_map(Draft::iter);
    let addresses = entries.flat_map(|(_, entry)| {
        let text = entry.to_text();
        let list = media_list::addresses(Some(entry));
        list.unwrap_or_else(|| vec![text.trim().to_owned()])
    });
    addresses.collect()
}

/// Checks the files of the items as long as the current owner lives.
pub fn follow(composer: Composer) {
    let all = contexts();
    let checked = StoredValue::new(HashSet::new());
    let waiting = StoredValue::new_local(None::<Timeout>);
    let check = move || {
        let new: Vec<String> = addresses(&items(composer))
            .into_iter()
            .filter(|url| checked.with_value(|checked: &HashSet<String>| !checked.contains(url)))
            .collect();
        let free = MAX_CHECKED.saturating_sub(checked.with_value(HashSet::len));
        let own = new.into_iter().filter(|url| uploads::is_own(all, url));
        let own: Vec<String> = own.take(free).collect();
        checked.update_value(|checked| checked.extend(own.iter().cloned()));
        spawn(async move {
            for url in own {
                uploads::check_use(&url).await;
            }
        });
    };
    effect(move || {
        composer.table.track();
        composer.offered.track();
        waiting.set_value(Some(after(CHECK_DELAY_MS, check)));
    });
}

/// Returns why the items can't be sent, if the service has lost one of their files.
pub fn refusal(composer: Composer) -> Option<String> {
    let all = composer.all.get_value();
    let own = addresses(&items(composer));
    let own = own.into_iter().filter(|url| uploads::is_own(all, url));
    let lost = own.filter(|url| uploads::is_lost(url)).min()?;
    let name = uploads::file(&lost).map(|file| file.name);
    Some(expiry::lost_in_batch(
        &name.unwrap_or_else(|| media_list::name(&lost)),
    ))
}
