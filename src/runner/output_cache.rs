//! Copies of outputs, which are used after the addresses of the outputs have expired.
//!
//! The leader makes the copies one at a time, so that no two tabs make the same copy and all copies together stay within the
//! limit. Storage is the only source of truth; nothing is cached in memory.

use atelier_engine::{Millis, TaskKey, stored_output};
use atelier_studio::output::output_cache::{self, CachedOutput, CopyRequest};
use atelier_studio::output::upload_copy;
use leptos::prelude::*;
use web_sys::Blob;

use super::records::Records;
use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use super::task_store::TaskStore;
use crate::browser::clock;
use crate::browser::storage::thumbnails;
use crate::browser::storage::{StorageError, Store};
use crate::reactive::boxed::spawn;
use crate::state::notices::Notices;
use crate::state::session::Session;
use deletion::Deletion;
use making::Outcome;
use stored::facts;

pub(super) use stored::records;

mod deletion;
mod earlier;
mod making;
mod stored;
mod wanted;

/// How long after the end of a task its outputs are copied even if the user does not look at them, in milliseconds: a day.
const MAX_AGE: Millis = 24 * 60 * 60 * 1_000;

#[derive(Clone, Copy)]
pub(super) struct OutputCache {
    session: Session,
    notices: Notices,
    tasks: TaskStore,
    tabs: TabSync,
    records: Records,
    /// Incremented whenever a copy is added or deleted.
    changes: RwSignal<u64>,
    queue: StoredValue<Queue, LocalStorage>,
}

/// The queue of copies to make.
#[derive(Default)]
struct Queue {
    /// The requests to execute, in order.
    pending: Vec<Request>,
    /// Requests that have failed temporarily. The next visit tries again.
    postponed: Vec<Request>,
    /// Tasks from before copies were enabled, oldest first. The last one is copied next.
    earlier: Vec<TaskKey>,
    /// The request that `earlier` belongs to.
    earlier_request: Option<String>,
    /// The queue is being processed.
    is_busy: bool,
    /// Addresses that could not be fetched. They are not requested again during this visit.
    failed_urls: Vec<String>,
    /// Storage has refused a copy, and the user was notified.
    has_reported_refusal: bool,
}

/// A request in the queue.
#[derive(Clone, PartialEq, Eq)]
struct Request {
    copies: CopyRequest,
    /// The last deletion of all copies before this request.
    deletion: Deletion,
}

/// An entry of the queue.
enum Job {
    Request(Request),
    /// A task from before copies were enabled.
    Earlier(TaskKey),
}

impl Queue {
    /// Stores the tasks whose copies are still to be made, for the next leader.
    fn remember(&self) {
        let last = Deletion::last();
        let requests = self.pending.iter().chain(&self.postponed);
        let current = requests.filter(|request| request.deletion == last);
        wanted::remember(current.map(|request| &request.copies));
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

    /// Records that the user wants copies of all existing outputs. [`CopyRequest::All`] starts to make them. Must be
    /// called only in the tab in which the user has asked for the copies: when the leader receives the request, the user may
    /// already have cancelled it.
    pub fn request_all(self) {
        earlier::request();
    }

    /// Adds a request to the queue. Only the leader executes it. A follower keeps it, because this tab may become
    /// the leader.
    pub fn request(self, copies: CopyRequest) {
        if copies == CopyRequest::All {
            return self.request_earlier();
        }
        let deletion = Deletion::last();
        self.queue.update_value(|queue| {
            queue.pending.push(Request { copies, deletion });
            if self.tabs.leads() {
                queue.remember();
            }
        });
        self.start_processing();
    }

    /// Adds the requests that the previous leader has not executed. Called when this tab becomes the leader.
    pub fn take_over(self) {
        self.queue.update_value(|queue| {
            // Must be read before the tasks: when all copies are deleted, the tasks are forgotten before the deletion is marked.
            let deletion = Deletion::last();
            let mut remaining = wanted::remembered();
            remaining.retain(|task| self.has_just_finished(task));
            let requests = remaining.into_iter().map(|task| Request {
                copies: CopyRequest::Task(task),
                deletion: deletion.clone(),
            });
            let new: Vec<_> = requests.filter(|it| !queue.pending.contains(it)).collect();
            queue.postponed.clear();
            queue.pending.extend(new);
        });
        self.resume_earlier();
        self.start_processing();
    }

    /// Starts to process the queue, if this tab leads.
    pub fn start_processing(self) {
        let leads = self.tabs.leads();
        let may_start = self
            .queue
            .try_update_value(|queue| leads && !std::mem::replace(&mut queue.is_busy, true));
        if may_start == Some(true) {
            spawn(self.process_queue());
        }
    }

    /// Returns whether the task has finished within [`MAX_AGE`]. Older outputs that still can't be fetched are not requested
    /// again at every visit.
    fn has_just_finished(self, key: &TaskKey) -> bool {
        clock::now().saturating_sub(self.finished(key)) < MAX_AGE
    }

    /// Returns when the task finished; 0 if it has not.
    fn finished(self, key: &TaskKey) -> Millis {
        let task = self.tasks.task(key);
        task.and_then(|task| task.read_untracked().finished)
            .unwrap_or_default()
    }

    /// Returns the next job. It stays in the queue until it is finished. If there is none, marks the queue as idle.
    fn next_job(self) -> Option<Job> {
        let leads = self.tabs.leads();
        let next = self.queue.try_update_value(|queue| {
            let next = match queue.pending.first() {
                Some(request) => Some(Job::Request(request.clone())),
                None => queue.earlier.last().cloned().map(Job::Earlier),
            };
            let next = next.filter(|_| leads);
            queue.is_busy = next.is_some();
            next
        });
        next.flatten()
    }

    fn finish_request(self, request: &Request, outcome: Outcome) {
        self.queue.update_value(|queue| {
            // Only one request is removed: the same copies may have been requested again.
            if let Some(at) = queue.pending.iter().position(|other| other == request) {
                let request = queue.pending.remove(at);
                if outcome == Outcome::Postponed {
                    queue.postponed.push(request);
                }
            }
            if self.tabs.leads() {
                queue.remember();
            }
        });
    }

    fn favorites(self) -> Vec<String> {
        self.tasks
            .with_tasks(|tasks| output_cache::favorites(tasks.iter().copied()))
    }

    /// Returns the address of an output, or of an uploaded file, by its name.
    pub fn output(self, name: &str) -> Option<String> {
        if let Some((task, index)) = upload_copy::parse_name(name) {
            let task = self.tasks.task(&task)?;
            return task.with_untracked(|task| Some(task.uploads.get(index)?.url.clone()));
        }
        let (task, position) = output_cache::parse_name(name)?;
        let task = self.tasks.task(&task)?;
        task.with_untracked(|task| task.outputs().get(position).cloned())
    }

    /// Returns the names of a task's outputs, and those of the uploaded files whose copies are stored with it.
    fn names(self, key: &TaskKey) -> Vec<String> {
        let Some(task) = self.tasks.task(key) else {
            return Vec::new();
        };
        let task = task.read_untracked();
        let outputs = (0..task.outputs().len()).map(|at| key.output(at));
        let uploads = match task.uploads.is_empty() {
            true => Vec::new(),
            false => (self.tasks).with_tasks(|tasks| upload_copy::names_of(&task, tasks)),
        };
        outputs.chain(uploads).collect()
    }

    /// Stores an imported file: a copy, or the file of an output that arrived as data.
    ///
    /// # Errors
    ///
    /// Storage refuses the file, or is not open.
    pub async fn import(self, copy: CachedOutput, blob: Blob) -> Result<(), StorageError> {
        let storage = self.records.storage().ok_or(StorageError::Closed)?;
        let records = match stored_output::key(&copy.url) {
            Some(key) => vec![(Store::Outputs, key, blob.into())],
            None => vec![
                (Store::Outputs, copy.key.clone(), blob.into()),
                facts(&copy),
            ],
        };
        self.records.cancel_file_deletions(&records);
        storage.put(&records).await?;
        self.announce_change();
        Ok(())
    }

    /// Deletes all copies except those of favorites. Copies that were requested before are not made.
    pub fn delete_all(self) {
        earlier::cancel();
        wanted::forget();
        // Marked last, because other tabs read the mark before they read the requests.
        Deletion::mark();
        thumbnails::clear();
        spawn(async move {
            let Ok(copies) = self.all().await else {
                return;
            };
            let deleted = output_cache::evictable(copies, &self.favorites()).into_iter();
            self.delete(deleted.flat_map(|copy| records(copy.key)).collect());
        });
    }

    /// Deletes the record of a task, the copies of its outputs, and these files.
    pub fn delete_task(self, key: &TaskKey, files: Vec<(Store, String)>) {
        let mut task = vec![(Store::Tasks, key.0.clone())];
        task.extend(records(format!("{key}/")));
        task.extend(files);
        self.delete(task);
    }

    /// Deletes records of tasks, copies or files.
    pub fn delete(self, records: Vec<(Store, String)>) {
        let deleted = self.records.delete(records);
        spawn(async move {
            // If storage refuses, the records are deleted once it works.
            if deleted.await.is_ok() {
                self.announce_change();
            }
        });
    }

    /// Tracks that copies are added or deleted.
    pub fn track(self) {
        self.changes.track();
    }

    /// Notifies the views that copies were added or deleted.
    pub fn has_changed(self) {
        self.changes.update(|changes| *changes += 1);
    }

    /// Notifies the views of all tabs that copies were added or deleted.
    fn announce_change(self) {
        self.has_changed();
        self.tabs.send(&TabMessage::Copies);
    }
}

#[cfg(test)]
mod tests;
