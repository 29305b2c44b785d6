//! Copies the outputs that existed before the user enabled copies. They are copied when no other request is pending, newest
//! first, until the limit is reached. The next leader continues with the rest.

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

/// The key in `localStorage` that is set until all earlier outputs are copied. The value is the time of the user's request
/// and identifies the request.
const KEY: &str = "atelier.copies.earlier";

/// The delay after a request before copies are made, in milliseconds. A request from another tab may arrive before the
/// setting that enables copies.
pub(super) const SETTING_DELAY_MS: u32 = 1_000;

/// How long the next output waits for the present one to be copied, in milliseconds.
const TIMEOUT_MS: u32 = 60_000;

/// Requests copies of earlier outputs.
pub(super) fn request() {
    LocalStore::Browser.write(KEY, &clock::now().to_string());
}

/// Cancels the request.
pub(super) fn cancel() {
    LocalStore::Browser.remove(KEY);
}

/// Returns the pending request. Another tab may have cancelled or replaced it.
fn pending_request() -> Option<String> {
    LocalStore::Browser.read(KEY)
}

impl OutputCache {
    /// Starts to copy earlier outputs after a delay, because the setting may arrive after the request.
    pub(super) fn request_earlier(self) {
        spawn(async move {
            TimeoutFuture::new(SETTING_DELAY_MS).await;
            self.resume_earlier();
            self.start_processing();
        });
    }

    /// Adds the earlier tasks to the queue, if this tab leads and a request is pending.
    pub(super) fn resume_earlier(self) {
        let request = pending_request();
        if !self.tabs.leads() || request.is_none() {
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
            .update_value(|queue| (queue.earlier_request, queue.earlier) = (request, keys));
    }

    /// Copies the outputs of an earlier task, and removes the task from the queue.
    pub(super) async fn copy_earlier(self, task: &TaskKey) {
        let request = self.queue.with_value(|queue| queue.earlier_request.clone());
        let is_wanted = || pending_request() == request;
        let mut has_space = self.has_space_for(task).await.unwrap_or(false);
        for output in self.names(task) {
            // Must be read before the pending request: when all copies are deleted, the request is cancelled before the
            // deletion is marked.
            let deletion = Deletion::last();
            if !has_space || !is_wanted() {
                break;
            }
            let copy = Box::pin(self.make_copy(&output, Some(self.finished(task)), &deletion));
            let made = select(copy, TimeoutFuture::new(TIMEOUT_MS)).await;
            if let Either::Left((Err(error), _)) = made {
                has_space = false;
                self.report_refusal(error);
            }
        }
        let continues = has_space && is_wanted();
        self.queue.update_value(|queue| {
            // If the requests differ, the queue belongs to a newer request.
            if queue.earlier_request == request {
                queue.earlier.retain(|other| continues && other != task);
                if queue.earlier.is_empty() && is_wanted() {
                    cancel();
                }
            }
        });
    }

    /// Returns whether the limit leaves space for copies of this task's outputs. If not, there is none for older tasks either.
    async fn has_space_for(self, task: &TaskKey) -> Result<bool, StorageError> {
        let Some(limit) = self.session.keep_limit() else {
            return Ok(false);
        };
        let others = output_cache::evictable(self.all().await?, &self.favorites());
        Ok(output_cache::copies_to_evict(&others, 1, limit, self.finished(task)).is_some())
    }
}
