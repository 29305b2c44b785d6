//! Rows whose files the service no longer has are not sent.

use atelier_contract::Draft;
use atelier_engine::Millis;
use atelier_studio::compose::table::Table;
use atelier_studio::compose::table::files::checks::addresses;
use atelier_studio::form::media_list;
use atelier_studio::form::upload::expiry;
use futures::future::join_all;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::composer::Composer;
use super::made::duplicate_rows;
use super::send::Which;
use crate::browser::clock;
use crate::reactive::boxed::{after, effect, spawn};
use crate::state::uploads;

/// How long the rows stay the same before their files are checked, in milliseconds.
const CHECK_DELAY_MS: u32 = 500;

/// The maximum number of files that are checked before Generate is pressed.
const MAX_EARLY: usize = 100;

/// The maximum number of files that are checked at once.
const MAX_AT_ONCE: usize = 6;

/// How long Generate waits for a service that leaves requests unanswered, in milliseconds.
const MAX_UNANSWERED_MS: Millis = 10_000;

/// Returns the items that would be sent; not tracked.
pub fn items(composer: Composer, which: Which) -> Vec<Draft> {
    let mut items: Vec<Draft> = match which {
        Which::All => composer.table.with_untracked(Table::waiting),
        Which::New => {
            let made = duplicate_rows(composer);
            let table = composer.table.read_untracked();
            table.new_to_send(&made).cloned().collect()
        }
        Which::Added => {
            let table = composer.table.read_untracked();
            return table.added_to_send().cloned().collect();
        }
    };
    composer.offered.with_untracked(|offered| {
        let offered = offered.iter().flat_map(|offered| offered.items.iter());
        items.extend(offered.cloned());
    });
    items
}

/// The checks of the files of a batch.
#[derive(Clone, Copy)]
pub struct LostFiles {
    composer: Composer,
}

impl LostFiles {
    /// Checks files early for as long as the current owner lives, because Generate waits for the others.
    pub fn follow(composer: Composer) -> Self {
        let this = Self { composer };
        let waiting = StoredValue::new_local(None::<Timeout>);
        let early = StoredValue::new(0);
        let check = move || {
            let Some(count) = early.try_get_value() else {
                return;
            };
            let mut due = this.due(Which::All);
            due.truncate(MAX_EARLY.saturating_sub(count));
            early.set_value(count + due.len());
            spawn(this.check(due));
        };
        effect(move || {
            composer.table.track();
            composer.offered.track();
            waiting.set_value(Some(after(CHECK_DELAY_MS, check)));
        });
        this
    }

    /// Returns the files of the items that must be checked before they are sent.
    pub fn due(self, which: Which) -> Vec<String> {
        let all = self.composer.all.get_value();
        let files = addresses(&items(self.composer, which)).into_iter();
        files
            .filter(|url| uploads::is_check_due(all, url))
            .collect()
    }

    /// Asks the service whether it still has these files. If it does not reply, the others are not checked.
    pub async fn check(self, files: Vec<String>) {
        let began_at = clock::now();
        for files in files.chunks(MAX_AT_ONCE) {
            let replies = join_all(files.iter().map(|url| uploads::check_use(url))).await;
            let is_late = clock::now().saturating_sub(began_at) >= MAX_UNANSWERED_MS;
            let is_unanswered = !replies.contains(&true) || is_late && replies.contains(&false);
            if is_unanswered || self.composer.all.is_disposed() {
                return;
            }
        }
    }

    /// Returns why the items can't be sent, if the service is known to have lost one of their files.
    pub fn refusal(self, which: Which) -> Option<String> {
        let all = self.composer.all.get_value();
        let own = addresses(&items(self.composer, which)).into_iter();
        let mut own = own.filter(|url| uploads::is_own(all, url));
        let lost = own.find(|url| uploads::is_lost(url))?;
        let name = uploads::file(&lost).map(|file| file.name);
        Some(expiry::not_sent(
            &name.unwrap_or_else(|| media_list::name(&lost)),
        ))
    }
}
