//! Copies are made, one after the other, and others are evicted for them.

use atelier_contract::ApiError;
use atelier_contract::output::SafeUrl;
use atelier_engine::Millis;
use atelier_studio::output::output_cache::{self, CachedOutput, CopyRequest};
use leptos::prelude::*;
use web_sys::Blob;

use super::stored::{facts, read, records};
use super::{Deletion, OutputCache, Request, Wanted};
use crate::browser::storage::thumbnails;
use crate::browser::storage::{StorageError, Store};
use crate::browser::{clock, http};

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The copy was made, or is not to be made.
    Done,
    /// There was no answer, or the page is just being closed.
    Postponed,
}

impl OutputCache {
    pub(super) async fn make(self) {
        while let Some(wanted) = self.next_wanted() {
            match wanted {
                Wanted::Now(request) => {
                    let outcome = self.carry_out(&request).await;
                    self.is_done_with(&request, outcome);
                }
                Wanted::Earlier(task) => self.make_earlier(&task).await,
            }
        }
    }

    async fn carry_out(self, request: &Request) -> Outcome {
        let (names, shown) = match &request.copies {
            CopyRequest::Output(name) => (vec![name.clone()], None),
            // No person may have looked at its outputs since they were made.
            CopyRequest::Task(key) => (self.names(key), Some(self.finished(key))),
            CopyRequest::Evict => {
                let made = self.make_room().await.map(|()| Outcome::Done);
                return self.outcome_of(made);
            }
            // `keep_earlier` takes it to heart.
            CopyRequest::All => return Outcome::Done,
        };
        let mut outcome = Outcome::Done;
        for name in names {
            let made = self.make_one(&name, shown, &request.deletion).await;
            if self.outcome_of(made) == Outcome::Postponed {
                outcome = Outcome::Postponed;
            }
        }
        outcome
    }

    /// Says it where storage refuses. It is tried again at the next visit, unless there is no room.
    fn outcome_of(self, made: Result<Outcome, StorageError>) -> Outcome {
        made.unwrap_or_else(|error| {
            self.report_refusal(error);
            match error {
                StorageError::Full => Outcome::Done,
                _ => Outcome::Postponed,
            }
        })
    }

    /// Makes the copy of one output, or notes that it was looked at. `shown` says when, if that was not now.
    /// Does nothing if all copies were deleted since `deletion`, except for a favorite.
    ///
    /// # Errors
    ///
    /// The browser's storage can't be read or written. That the output could not be fetched is an
    /// [`Outcome`].
    pub(super) async fn make_one(
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
        let (mut going, mut coming) = (Vec::new(), Vec::new());
        if let Some(known) = storage.get(Store::OutputFacts, name).await? {
            if let Some(mut copy) = known.as_string().and_then(|text| read(&text)) {
                copy.shown = copy.shown.max(shown);
                coming.push(facts(&copy));
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
            // Either may have become a favorite while the output came.
            let favorites = self.favorites();
            if !favorites.iter().any(|favorite| favorite == name) {
                let others = output_cache::evictable(others, &favorites);
                let Some(names) = output_cache::copies_to_evict(&others, bytes, limit, shown)
                else {
                    return Ok(Outcome::Done);
                };
                going = names.into_iter().flat_map(records).collect();
            }
            coming.push((Store::Outputs, name.to_owned(), blob.into()));
            coming.push(facts(&CachedOutput {
                key: name.to_owned(),
                url,
                bytes,
                kept: now,
                shown,
            }));
        }
        // The task may have been removed meanwhile, or all copies deleted: nothing must come back.
        if is_wanted() && self.output(name).is_some() {
            storage.change(&going, &coming).await?;
            self.tell_changed();
        }
        Ok(Outcome::Done)
    }

    /// Fetches an output that is worth a copy: its address and its bytes, or what becomes of the request without
    /// them.
    async fn fetch(self, name: &str, limit: u64) -> Result<(String, Blob), Outcome> {
        let (url, safe) = self.worth_keeping(name).ok_or(Outcome::Done)?;
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

    /// Deletes the copies that are above the limit.
    async fn make_room(self) -> Result<(), StorageError> {
        let (Some(storage), Some(limit)) = (self.records.storage(), self.session.keep_limit())
        else {
            return Ok(());
        };
        let others = output_cache::evictable(self.all().await?, &self.favorites());
        if let Some(names) = output_cache::copies_to_evict(&others, 0, limit, clock::now()) {
            let going: Vec<_> = names.into_iter().flat_map(records).collect();
            storage.change(&going, &[]).await?;
            self.tell_changed();
        }
        Ok(())
    }

    /// The address of an output that a copy is to be made of, as it is and made safe. What carries
    /// its bytes in its address needs no copy.
    fn worth_keeping(self, name: &str) -> Option<(String, SafeUrl)> {
        let url = self.output(name)?;
        let has_failed = self
            .queue
            .with_value(|queue| queue.failed_urls.contains(&url));
        let address = self.session.settings_untracked().address;
        let safe = SafeUrl::link(&url, address.as_str()).filter(|_| !has_failed)?;
        Some((url, safe))
    }

    /// Says once that storage refuses a copy: the next would meet the same, and nothing but copies is lost.
    pub(super) fn report_refusal(self, error: StorageError) {
        if error == StorageError::Full {
            // They can be made again.
            thumbnails::clear();
        }
        let was_refused = self
            .queue
            .try_update_value(|queue| std::mem::replace(&mut queue.is_refused, true));
        if was_refused == Some(false) {
            self.notices.problem(format!(
                "An output could not be kept: this browser {}. Tasks and their outputs at the service are not touched.",
                error.reason()
            ));
        }
    }
}
