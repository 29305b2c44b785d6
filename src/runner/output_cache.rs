//! Copies of outputs, for the day when their addresses are dead.
//!
//! The leading tab makes them, one after the other, so that no two tabs make the same and together
//! they stay within the limit. What storage says counts; nothing of it is held here.

use atelier_engine::{Millis, TaskKey, stored_output};
use atelier_studio::output::output_cache::{self, CachedOutput, CopyRequest};
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

/// A day: how long after a task has finished its outputs are copied without a person looking at them.
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

/// The copies that are to be made.
#[derive(Default)]
struct Queue {
    /// The requests that are still to be carried out, in their order.
    wanted: Vec<Request>,
    /// The requests that could not be carried out for now. The next visit tries again.
    postponed: Vec<Request>,
    /// The tasks that were there before copies were wanted. The newest is the last, and the next to be copied.
    earlier: Vec<TaskKey>,
    /// The wish that `earlier` belongs to.
    wish: Option<String>,
    /// Copies are being made.
    is_busy: bool,
    /// The addresses that gave nothing. They are not asked again in this visit.
    failed_urls: Vec<String>,
    /// Storage has refused a copy, and the person was told.
    is_refused: bool,
}

/// A request in the queue.
#[derive(Clone, PartialEq, Eq)]
struct Request {
    copies: CopyRequest,
    /// The last deletion of all copies before this request.
    deletion: Deletion,
}

/// The next thing that copies are made for.
enum Wanted {
    Now(Request),
    /// This task was there before a person wanted copies.
    Earlier(TaskKey),
}

impl Queue {
    fn remember(&self) {
        let last = Deletion::last();
        let requests = self.wanted.iter().chain(&self.postponed);
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

    /// The user wants copies from now on, also of the outputs that are there already. [`CopyRequest::All`] has them made.
    /// Set once, in the tab where it was asked for: it may have been taken back when the leader receives the request.
    pub fn want_all(self) {
        earlier::want();
    }

    /// Has a request carried out by the tab that leads. A follower keeps it in mind, because it may be that no
    /// tab is leading yet.
    pub fn request(self, copies: CopyRequest) {
        if copies == CopyRequest::All {
            return self.keep_earlier();
        }
        let deletion = Deletion::last();
        self.queue.update_value(|queue| {
            queue.wanted.push(Request { copies, deletion });
            if self.tabs.leads() {
                queue.remember();
            }
        });
        self.make_wanted();
    }

    /// This tab leads from now on: also wants what the last leader has not come to.
    pub fn take_over(self) {
        self.queue.update_value(|queue| {
            // Read before the tasks, which a deletion removes first.
            let deletion = Deletion::last();
            let mut left = wanted::remembered();
            left.retain(|task| self.has_just_finished(task));
            let left = left.into_iter().map(|task| Request {
                copies: CopyRequest::Task(task),
                deletion: deletion.clone(),
            });
            let left: Vec<_> = left.filter(|it| !queue.wanted.contains(it)).collect();
            queue.postponed.clear();
            queue.wanted.extend(left);
        });
        self.resume_earlier();
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

    /// Whether the task has finished within [`MAX_AGE`]: what can't be had for that long is not asked for at
    /// every visit.
    fn has_just_finished(self, key: &TaskKey) -> bool {
        clock::now().saturating_sub(self.finished(key)) < MAX_AGE
    }

    /// When the task has finished; 0 if it has not.
    fn finished(self, key: &TaskKey) -> Millis {
        let task = self.tasks.task(key);
        task.and_then(|task| task.read_untracked().finished)
            .unwrap_or_default()
    }

    /// The next thing to make copies for; without any, no worker is busy any more. It stays in the queue until
    /// it is done with.
    fn next_wanted(self) -> Option<Wanted> {
        let leads = self.tabs.leads();
        let next = self.queue.try_update_value(|queue| {
            let next = match queue.wanted.first() {
                Some(request) => Some(Wanted::Now(request.clone())),
                None => queue.earlier.last().cloned().map(Wanted::Earlier),
            };
            let next = next.filter(|_| leads);
            queue.is_busy = next.is_some();
            next
        });
        next.flatten()
    }

    fn is_done_with(self, request: &Request, outcome: Outcome) {
        self.queue.update_value(|queue| {
            // It may be wanted again by now.
            if let Some(at) = queue.wanted.iter().position(|other| other == request) {
                let request = queue.wanted.remove(at);
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

    /// The address of an output, by its name.
    pub fn output(self, name: &str) -> Option<String> {
        let (task, position) = output_cache::parse_name(name)?;
        let task = self.tasks.task(&task)?;
        task.with_untracked(|task| task.outputs().get(position).cloned())
    }

    /// The names of a task's outputs.
    fn names(self, key: &TaskKey) -> Vec<String> {
        let task = self.tasks.task(key);
        let count = task.map_or(0, |task| task.read_untracked().outputs().len());
        (0..count).map(|at| key.output(at)).collect()
    }

    /// Stores what another browser has stored: a copy, or the file of what came as data.
    ///
    /// # Errors
    ///
    /// Storage refuses it, or is not open.
    pub async fn take_in(self, copy: CachedOutput, blob: Blob) -> Result<(), StorageError> {
        let storage = self.records.storage().ok_or(StorageError::Closed)?;
        let records = match stored_output::key(&copy.url) {
            Some(key) => vec![(Store::Outputs, key, blob.into())],
            None => vec![
                (Store::Outputs, copy.key.clone(), blob.into()),
                facts(&copy),
            ],
        };
        self.records.keep_files(&records);
        storage.put(&records).await?;
        self.tell_changed();
        Ok(())
    }

    /// Deletes all copies but those of favorites. Copies that were requested before don't come back.
    pub fn delete_all(self) {
        earlier::cancel();
        wanted::forget();
        // Written last, because its readers read it first.
        Deletion::mark();
        thumbnails::clear();
        spawn(async move {
            let Ok(copies) = self.all().await else {
                return;
            };
            let going = output_cache::evictable(copies, &self.favorites()).into_iter();
            self.delete(going.flat_map(|copy| records(copy.key)).collect());
        });
    }

    /// Deletes the record of a task, and with it the copies of its outputs and these files.
    pub fn delete_task(self, key: &TaskKey, files: Vec<(Store, String)>) {
        let mut task = vec![(Store::Tasks, key.0.clone())];
        task.extend(records(format!("{key}/")));
        task.extend(files);
        self.delete(task);
    }

    /// Deletes records, which are or have copies.
    pub fn delete(self, records: Vec<(Store, String)>) {
        let deleted = self.records.delete(records);
        spawn(async move {
            // If storage refuses, they are deleted once it works.
            if deleted.await.is_ok() {
                self.tell_changed();
            }
        });
    }

    /// Follows copies that come or go.
    pub fn track(self) {
        self.changes.track();
    }

    /// Has the views that show copies look again.
    pub fn has_changed(self) {
        self.changes.update(|changes| *changes += 1);
    }

    /// Says it here and in the other tabs.
    fn tell_changed(self) {
        self.has_changed();
        self.tabs.tell(&TabMessage::Copies);
    }
}

#[cfg(test)]
mod tests;
