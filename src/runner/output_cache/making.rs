//! Makes copies one at a time, and evicts others to stay within the limit.

use atelier_contract::ApiError;
use atelier_contract::output::SafeUrl;
use atelier_engine::Millis;
use atelier_studio::output::output_cache::{self, CachedOutput, CopyRequest};
use leptos::prelude::*;
use web_sys::Blob;

use super::stored::{facts, read, records};
use super::{Deletion, Job, OutputCache, Request};
use crate::browser::storage::thumbnails;
use crate::browser::storage::{StorageError, Store};
use crate::browser::{clock, http};

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The copy was made, or must not be made.
    Done,
    /// The service did not respond, or the page is being closed.
    Postponed,
}

impl OutputCache {
    /// Executes the jobs of the queue until none is left or this tab stops leading.
    pub(super) async fn process_queue(self) {
        while let Some(job) = self.next_job() {
            match job {
                Job::Request(request) => {
                    let outcome = self.execute(&request).await;
                    self.finish_request(&request, outcome);
                }
                Job::Earlier(task) => self.copy_earlier(&task).await,
            }
        }
    }

    async fn execute(self, request: &Request) -> Outcome {
        let (names, shown) = match &request.copies {
            CopyRequest::Output(name) => (vec![name.clone()], None),
            // The user may not have looked at the outputs yet.
            CopyRequest::Task(key) => (self.names(key), Some(self.finished(key))),
            CopyRequest::Evict => {
                let made = self.evict_above_limit().await.map(|()| Outcome::Done);
                return self.outcome_of(made);
            }
            // Handled by `request_earlier`.
            CopyRequest::All => return Outcome::Done,
        };
        let mut outcome = Outcome::Done;
        for name in names {
            let made = self.make_copy(&name, shown, &request.deletion).await;
            if self.outcome_of(made) == Outcome::Postponed {
                outcome = Outcome::Postponed;
            }
        }
        outcome
    }

    /// Reports an error of storage, and returns it as an outcome. The next visit tries again, unless storage is full.
    fn outcome_of(self, made: Result<Outcome, StorageError>) -> Outcome {
        made.unwrap_or_else(|error| {
            self.report_refusal(error);
            match error {
                StorageError::Full => Outcome::Done,
                _ => Outcome::Postponed,
            }
        })
    }

    /// Makes the copy of an output. If it exists already, only records that the output was shown: at the time `shown`, or
    /// now. Does nothing if all copies were deleted after `deletion`, unless the output is a favorite.
    ///
    /// # Errors
    ///
    /// The browser's storage can't be read or written. If the output can't be fetched, that is an [`Outcome`] and no error.
    pub(super) async fn make_copy(
        self,
        name: &str,
        shown: Option<Millis>,
        deletion: &Deletion,
    ) -> Result<Outcome, StorageError> {
        let Some(storage) = self.records.storage() else {
            return Ok(Outcome::Done);
        };
        let is_favorite = || self.favorites().iter().any(|favorite| favorite == name);
        let is_wanted = || !deletion.is_outdated() || is_favorite();
        if !is_wanted() {
            return Ok(Outcome::Done);
        }
        let now = clock::now();
        let shown = shown.unwrap_or(now);
        let (mut deletions, mut additions) = (Vec::new(), Vec::new());
        if let Some(known) = storage.get(Store::OutputFacts, name).await? {
            if let Some(mut copy) = known.as_string().and_then(|text| read(&text)) {
                copy.shown = copy.shown.max(shown);
                additions.push(facts(&copy));
            }
        } else {
            let limit = match self.session.keep_limit() {
                _ if is_favorite() => output_cache::MAX_LIMIT,
                Some(limit) => limit,
                None => return Ok(Outcome::Done),
            };
            let (url, blob) = match self.fetch(name, limit).await {
                Ok(fetched) => fetched,
                Err(outcome) => return Ok(outcome),
            };
            let bytes = blob.size() as u64;
            let others = self.all().await?;
            // This output or others may have become favorites while it was fetched.
            let favorites = self.favorites();
            if !favorites.iter().any(|favorite| favorite == name) {
                let others = output_cache::evictable(others, &favorites);
                let Some(names) = output_cache::copies_to_evict(&others, bytes, limit, shown)
                else {
                    return Ok(Outcome::Done);
                };
                deletions = names.into_iter().flat_map(records).collect();
            }
            additions.push((Store::Outputs, name.to_owned(), blob.into()));
            additions.push(facts(&CachedOutput {
                key: name.to_owned(),
                url,
                bytes,
                kept: now,
                shown,
            }));
        }
        // Nothing must be stored if the task was removed or all copies were deleted in the meantime.
        if is_wanted() && self.output(name).is_some() {
            storage.change(&deletions, &additions).await?;
            self.announce_change();
        }
        Ok(Outcome::Done)
    }

    /// Fetches an output that needs a copy. Returns its address and its bytes, or else the outcome of the request.
    async fn fetch(self, name: &str, limit: u64) -> Result<(String, Blob), Outcome> {
        let (url, safe) = self.url_to_copy(name).ok_or(Outcome::Done)?;
        match http::get_blob(safe.as_str(), limit).await {
            Ok(blob) => Ok((url, blob)),
            Err(error) => {
                self.queue.update_value(|queue| queue.failed_urls.push(url));
                Err(match error {
                    ApiError::Network { .. } | ApiError::Timeout { .. } => Outcome::Postponed,
                    _ => Outcome::Done,
                })
            }
        }
    }

    /// Deletes copies until the rest is within the limit.
    async fn evict_above_limit(self) -> Result<(), StorageError> {
        let (Some(storage), Some(limit)) = (self.records.storage(), self.session.keep_limit())
        else {
            return Ok(());
        };
        let others = output_cache::evictable(self.all().await?, &self.favorites());
        if let Some(names) = output_cache::copies_to_evict(&others, 0, limit, clock::now()) {
            let deletions: Vec<_> = names.into_iter().flat_map(records).collect();
            storage.change(&deletions, &[]).await?;
            self.announce_change();
        }
        Ok(())
    }

    /// Returns the address of an output that needs a copy, both as the service gave it and as a safe URL. An output with a
    /// data URL needs no copy.
    fn url_to_copy(self, name: &str) -> Option<(String, SafeUrl)> {
        let url = self.output(name)?;
        let has_failed = self
            .queue
            .with_value(|queue| queue.failed_urls.contains(&url));
        let address = self.session.settings_untracked().address;
        let safe = SafeUrl::link(&url, address.as_str()).filter(|_| !has_failed)?;
        Some((url, safe))
    }

    /// Reports once that storage refuses copies. Further copies would fail too, and only copies are lost.
    pub(super) fn report_refusal(self, error: StorageError) {
        if error == StorageError::Full {
            // Thumbnails can be made again.
            thumbnails::clear();
        }
        let was_reported = self
            .queue
            .try_update_value(|queue| std::mem::replace(&mut queue.has_reported_refusal, true));
        if was_reported == Some(false) {
            self.notices.problem(format!(
                "An output could not be stored: this browser {}. Tasks and their outputs at the service are not affected.",
                error.reason()
            ));
        }
    }
}
