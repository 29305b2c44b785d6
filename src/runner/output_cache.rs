//! Copies of outputs, for the day when their addresses are dead.
//!
//! The leading tab makes them, one after the other, so that no two tabs make the same and together
//! they stay within the limit. What storage says counts; nothing of it is held here.

use atelier_contract::{ApiError, json};
use atelier_engine::output::SafeUrl;
use atelier_engine::output_cache::{self, CachedOutput};
use atelier_engine::{Millis, TaskKey, TaskState};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

use super::records::Records;
use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use super::task_store::TaskStore;
use crate::boxed::spawn;
use crate::browser::storage::{StorageError, Store};
use crate::browser::{clock, http, thumbnails};
use crate::notices::Notices;
use crate::session::Session;

mod wanted;

/// A day: how long after a task has finished its outputs are copied without anybody looking at them.
const MAX_AGE: Millis = 24 * 60 * 60 * 1_000;

#[derive(Clone, Copy)]
pub(super) struct OutputCache {
    session: Session,
    notices: Notices,
    tasks: TaskStore,
    tabs: TabSync,
    records: Records,
    /// Moves on whenever a copy comes or goes.
    changes: RwSignal<u64>,
    queue: StoredValue<Queue, LocalStorage>,
}

/// What is kept in mind of the copies to be made.
#[derive(Default)]
struct Queue {
    /// The names of outputs that a copy is wanted of; those of a whole task end in `/`.
    wanted: Vec<String>,
    /// Of those, the ones that could not be had for now: for the next visit.
    postponed: Vec<String>,
    is_busy: bool,
    /// Addresses that gave nothing: they are not asked again in this visit.
    failed_urls: Vec<String>,
    /// Storage has refused a copy, and the person was told.
    is_refused: bool,
}

/// What came of a copy that was wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It was made, or is not to be made.
    Done,
    /// Nobody answered, or the page is just being closed.
    Postponed,
}

impl Queue {
    fn remember(&self) {
        wanted::remember(self.wanted.iter().chain(&self.postponed));
    }
}

impl OutputCache {
    pub fn new(
        session: Session,
        notices: Notices,
        tasks: TaskStore,
        tabs: TabSync,
        records: Records,
    ) -> Self {
        Self {
            session,
            notices,
            tasks,
            tabs,
            records,
            changes: RwSignal::new(0),
            queue: StoredValue::new_local(Queue::default()),
        }
    }

    /// Wants a copy, or notes that one is looked at. A follower keeps it in mind: it may be that no
    /// tab is leading yet. An empty name asks for nothing but that what is above the limit goes.
    pub fn keep(self, output: String) {
        self.queue.update_value(|queue| {
            queue.wanted.push(output);
            if self.tabs.leads() {
                queue.remember();
            }
        });
        self.make_wanted();
    }

    /// This tab leads from now on: also wants what the last leader has not come to.
    pub fn take_over(self) {
        self.queue.update_value(|queue| {
            let mut left = wanted::remembered();
            left.retain(|name| !queue.wanted.contains(name) && self.has_just_finished(name));
            queue.postponed.clear();
            queue.wanted.extend(left);
        });
        self.make_wanted();
    }

    /// Has the copies made that are wanted, if this tab leads.
    pub fn make_wanted(self) {
        let leads = self.tabs.leads();
        let may_begin = self
            .queue
            .try_update_value(|queue| leads && !std::mem::replace(&mut queue.is_busy, true));
        if may_begin == Some(true) {
            spawn(self.make());
        }
    }

    /// Whether the task of this name (it ends in `/`) has finished within [`MAX_AGE`]: what can't be had for
    /// that long is not asked for at every visit.
    fn has_just_finished(self, name: &str) -> bool {
        let key = TaskKey(name.trim_end_matches('/').to_owned());
        let task = self.tasks.task(&key);
        let finished = task.and_then(|task| task.read_untracked().finished);
        finished.is_some_and(|finished| clock::now().saturating_sub(finished) < MAX_AGE)
    }

    /// The next one that a copy is wanted of; without any, nobody is busy any more. It is wanted until
    /// it is done with.
    fn next_wanted(self) -> Option<String> {
        let leads = self.tabs.leads();
        let next = self.queue.try_update_value(|queue| {
            queue.is_busy = leads && !queue.wanted.is_empty();
            queue.is_busy.then(|| queue.wanted[0].clone())
        });
        next.flatten()
    }

    fn is_done_with(self, wanted: &str, outcome: Outcome) {
        self.queue.update_value(|queue| {
            // It may have been wanted once more meanwhile.
            if let Some(at) = queue.wanted.iter().position(|name| name == wanted) {
                let wanted = queue.wanted.remove(at);
                if outcome == Outcome::Postponed {
                    queue.postponed.push(wanted);
                }
            }
            if self.tabs.leads() {
                queue.remember();
            }
        });
    }

    async fn make(self) {
        while let Some(wanted) = self.next_wanted() {
            let names = match wanted.strip_suffix('/') {
                Some(task) => {
                    let task = TaskKey(task.to_owned());
                    let count = self.outputs(&task).len();
                    (0..count).map(|at| task.output(at)).collect()
                }
                None => vec![wanted.clone()],
            };
            let mut outcome = Outcome::Done;
            for name in names {
                match self.make_one(&name).await {
                    Ok(Outcome::Done) => {}
                    Ok(Outcome::Postponed) => outcome = Outcome::Postponed,
                    Err(error) => {
                        if error != StorageError::Full {
                            outcome = Outcome::Postponed;
                        }
                        self.report_refusal(error);
                    }
                }
            }
            self.is_done_with(&wanted, outcome);
        }
    }

    async fn make_one(self, name: &str) -> Result<Outcome, StorageError> {
        let Some(storage) = self.records.storage() else {
            return Ok(Outcome::Done);
        };
        let now = clock::now();
        let (mut going, mut coming) = (Vec::new(), Vec::new());
        if let Some(known) = storage.get(Store::OutputFacts, name).await? {
            if let Some(mut copy) = known.as_string().and_then(|text| read(&text)) {
                copy.shown = now;
                coming.push(facts(&copy));
            }
        } else {
            let is_favorite = self.favorites().iter().any(|favorite| favorite == name);
            let limit = match self.session.keep_limit() {
                _ if is_favorite => output_cache::LIMITS[2],
                Some(limit) => limit,
                None => return Ok(Outcome::Done),
            };
            let mut bytes = 0;
            if !name.is_empty() {
                let Some((url, safe)) = self.worth_keeping(name) else {
                    return Ok(Outcome::Done);
                };
                let blob = match http::get_blob(safe.as_str(), limit).await {
                    Ok(blob) => blob,
                    Err(error) => {
                        self.queue.update_value(|queue| queue.failed_urls.push(url));
                        let is_silent =
                            matches!(error, ApiError::Network { .. } | ApiError::Timeout { .. });
                        return Ok(match is_silent {
                            true => Outcome::Postponed,
                            false => Outcome::Done,
                        });
                    }
                };
                bytes = blob.size() as u64;
                coming.push((Store::Outputs, name.to_owned(), blob.into()));
                coming.push(facts(&CachedOutput {
                    key: name.to_owned(),
                    url,
                    bytes,
                    kept: now,
                    shown: now,
                }));
            }
            let others = self.all().await?;
            // Either may have become one while the output came.
            let favorites = self.favorites();
            let is_favorite = favorites.iter().any(|favorite| favorite == name);
            let others = output_cache::without(others, &favorites);
            let names = match is_favorite {
                true => Some(Vec::new()),
                false => output_cache::make_room(&others, bytes, limit),
            };
            let Some(names) = names else {
                return Ok(Outcome::Done);
            };
            going = names.into_iter().flat_map(records).collect();
        }
        // The task may have been removed meanwhile: nothing of it must come back.
        if name.is_empty() || self.output(name).is_some() {
            storage.change(&going, &coming).await?;
            self.tell_changed();
        }
        Ok(Outcome::Done)
    }

    fn favorites(self) -> Vec<String> {
        self.tasks
            .with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()))
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

    /// The address of an output, by its name.
    fn output(self, name: &str) -> Option<String> {
        let (task, position) = output_cache::place(name)?;
        self.outputs(&task).into_iter().nth(position)
    }

    fn outputs(self, key: &TaskKey) -> Vec<String> {
        match self.tasks.task(key).map(|task| task.get_untracked().state) {
            Some(TaskState::Ready { outputs, .. }) => outputs,
            _ => Vec::new(),
        }
    }

    /// Said once: the next would meet the same, and nothing but copies is lost.
    fn report_refusal(self, error: StorageError) {
        if error == StorageError::Full {
            // They can be made again.
            thumbnails::clear();
        }
        let was_refused = self
            .queue
            .try_update_value(|queue| std::mem::replace(&mut queue.is_refused, true));
        if was_refused == Some(false) {
            self.notices.problem(format!(
                "An output could not be kept: this browser {}. Tasks and their outputs at the \
                 service are not touched.",
                error.reason()
            ));
        }
    }

    /// The copy of an output, if there is one.
    pub async fn copy(self, name: &str) -> Option<Blob> {
        let storage = self.records.storage()?;
        let blob = storage.get(Store::Outputs, name).await.ok()??;
        blob.dyn_into().ok()
    }

    /// What is known of all copies.
    pub async fn all(self) -> Result<Vec<CachedOutput>, StorageError> {
        let Some(storage) = self.records.storage() else {
            return Ok(Vec::new());
        };
        let texts = storage.all_texts(Store::OutputFacts).await?;
        Ok(texts.iter().filter_map(|text| read(text)).collect())
    }

    /// Keeps a copy that another browser has made.
    pub async fn take_in(self, copy: CachedOutput, blob: Blob) -> Result<(), StorageError> {
        let storage = self.records.storage().ok_or(StorageError::Closed)?;
        let file = (Store::Outputs, copy.key.clone(), blob.into());
        storage.change(&[], &[file, facts(&copy)]).await?;
        self.tell_changed();
        Ok(())
    }

    /// All copies go but those of favorites.
    pub async fn delete_all(self) {
        thumbnails::clear();
        let Ok(copies) = self.all().await else {
            return;
        };
        let going = output_cache::without(copies, &self.favorites()).into_iter();
        self.delete(going.flat_map(|copy| records(copy.key)).collect());
    }

    /// Deletes records, which are or have copies.
    pub fn delete(self, records: Vec<(Store, String)>) {
        let deleted = self.records.delete(records);
        spawn(async move {
            // What is refused is deleted once storage works.
            if deleted.await.is_ok() {
                self.tell_changed();
            }
        });
    }

    /// Follows copies that come or go.
    pub fn track(self) {
        self.changes.track();
    }

    /// Whoever shows copies looks again.
    pub fn has_changed(self) {
        self.changes.update(|changes| *changes += 1);
    }

    /// Says it here and in the other tabs.
    fn tell_changed(self) {
        self.has_changed();
        self.tabs.tell(&TabMessage::Copies);
    }
}

/// What belongs to a copy; to those of a whole task, if the name ends in `/`.
pub(super) fn records(name: String) -> [(Store, String); 2] {
    [(Store::Outputs, name.clone()), (Store::OutputFacts, name)]
}

fn read(text: &str) -> Option<CachedOutput> {
    CachedOutput::from_value(json::read(text)?)
}

fn facts(copy: &CachedOutput) -> (Store, String, JsValue) {
    let text = copy.to_value().to_string();
    (
        Store::OutputFacts,
        copy.key.clone(),
        JsValue::from_str(&text),
    )
}

#[cfg(test)]
mod tests;
