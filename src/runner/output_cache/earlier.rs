//! Copies the outputs that were there before a person wanted copies. They are copied while there is nothing else to
//! copy, newest first, until there is no room left. The tab that leads next goes on with the rest.

use atelier_engine::{Task, TaskKey, TaskState};
use atelier_studio::output::output_cache;
use futures::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::{Deletion, OutputCache};
use crate::browser::clock;
use crate::browser::local::LocalStore;
use crate::browser::storage::StorageError;
use crate::reactive::boxed::spawn;

/// The key in `localStorage` that is set until all of them are copied. The value is the time of the user's wish and
/// identifies it.
const PLACE: &str = "atelier.copies.earlier";

/// Another tab tells of it before the setting arrives.
pub(super) const SETTING_MS: u32 = 1_000;

/// One that is not there by then holds up the others no longer.
const TIMEOUT_MS: u32 = 60_000;

/// Requests copies of earlier outputs.
pub(super) fn want() {
    LocalStore::Browser.write(PLACE, &clock::now().to_string());
}

/// Cancels the request.
pub(super) fn cancel() {
    LocalStore::Browser.remove(PLACE);
}

/// Returns the wish that is not fulfilled yet. Another tab may have cancelled or replaced it.
fn wish() -> Option<String> {
    LocalStore::Browser.read(PLACE)
}

impl OutputCache {
    /// The setting may arrive after the request, and another tab may have made both.
    pub(super) fn keep_earlier(self) {
        spawn(async move {
            TimeoutFuture::new(SETTING_MS).await;
            self.resume_earlier();
            self.make_wanted();
        });
    }

    pub(super) fn resume_earlier(self) {
        let wish = wish();
        if !self.tabs.leads() || wish.is_none() {
            return;
        }
        let mut tasks = self.tasks.with_tasks(|tasks| {
            let is_ready = |task: &&&Task| matches!(task.state, TaskState::Ready { .. });
            let ready = tasks.iter().filter(is_ready);
            let keys = ready.map(|task| (task.created, task.key.clone()));
            keys.collect::<Vec<_>>()
        });
        tasks.sort_unstable();
        let keys = tasks.into_iter().map(|(_, key)| key).collect();
        self.queue
            .update_value(|queue| (queue.wish, queue.earlier) = (wish, keys));
    }

    pub(super) async fn make_earlier(self, task: &TaskKey) {
        let wanted = self.queue.with_value(|queue| queue.wish.clone());
        let is_wanted = || wish() == wanted;
        let mut has_room = self.has_room_for(task).await.unwrap_or(false);
        for output in self.names(task) {
            // Read before the wish, which a deletion cancels first.
            let deletion = Deletion::last();
            if !has_room || !is_wanted() {
                break;
            }
            let copy = Box::pin(self.make_one(&output, Some(self.finished(task)), &deletion));
            let made = select(copy, TimeoutFuture::new(TIMEOUT_MS)).await;
            if let Either::Left((Err(error), _)) = made {
                has_room = false;
                self.report_refusal(error);
            }
        }
        let goes_on = has_room && is_wanted();
        self.queue.update_value(|queue| {
            // Otherwise the list is that of the next wish.
            if queue.wish == wanted {
                queue.earlier.retain(|other| goes_on && other != task);
                if queue.earlier.is_empty() && is_wanted() {
                    cancel();
                }
            }
        });
    }

    /// Whether anything of this task would be kept: if not, neither it nor an older one need be fetched.
    async fn has_room_for(self, task: &TaskKey) -> Result<bool, StorageError> {
        let Some(limit) = self.session.keep_limit() else {
            return Ok(false);
        };
        let others = output_cache::evictable(self.all().await?, &self.favorites());
        Ok(output_cache::copies_to_evict(&others, 1, limit, self.finished(task)).is_some())
    }
}
