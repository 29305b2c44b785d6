//! Generate waits while files of the rows are uploaded, or checked, and then sends the rows once. If the user leaves Batch
//! mode meanwhile, nothing is sent.

use std::rc::Rc;

use atelier_contract::{Draft, ModelId};
use atelier_engine::Account;
use atelier_studio::compose::table::files::{FileWait, PressedRows};
use atelier_studio::form::upload::pending::{CHANGED, CHECKING, RELOADED};
use leptos::prelude::*;

use super::composer::Composer;
use super::lost_files::{self, LostFiles};
use super::send::Which;
use crate::reactive::boxed::{effect, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::tables::files;
use crate::state::wait_mark;
use crate::view::parts::wait_line::wait_line;

/// The message after Batch mode was left while Generate waited.
const INTERRUPTED: &str =
    "Not sent: Batch was left while Generate waited for files. Press Generate there again.";

/// A press of Generate that waits for files.
#[derive(Clone, Copy)]
pub struct RowsWait {
    composer: Composer,
    lost_files: LostFiles,
    pressed: RwSignal<Option<Pressed>>,
    message: RwSignal<String>,
    /// Presses Generate again.
    resume: StoredValue<Option<Rc<dyn Fn()>>, LocalStorage>,
    /// Whether Generate is being pressed again after the files were checked. The service may not have replied.
    is_checked: StoredValue<bool>,
}

fn mark_key(model: &ModelId) -> String {
    format!("atelier.batch-waits.{model}")
}

#[derive(Clone, PartialEq)]
struct Pressed {
    wait: Wait,
    account: Account,
}

/// What a press waits for.
#[derive(Clone, PartialEq)]
enum Wait {
    Uploads(PressedRows),
    Check {
        which: Which,
        /// The items at the press.
        items: Vec<Draft>,
        is_done: bool,
    },
}

impl RowsWait {
    pub fn new(composer: Composer, lost_files: LostFiles) -> Self {
        let this = Self {
            composer,
            lost_files,
            pressed: RwSignal::new(None),
            message: RwSignal::new(String::new()),
            resume: StoredValue::new_local(None),
            is_checked: StoredValue::new(false),
        };
        this.follow();
        let (notices, key) = (contexts().notices, mark_key(&composer.schema().model));
        if wait_mark::take(&key).is_some() {
            notices.say(RELOADED);
        }
        this.mark(key.clone());
        on_cleanup(move || {
            wait_mark::take(&key);
            let pressed = this.pressed.try_get_untracked().flatten();
            if pressed.is_some() {
                notices.say(INTERRUPTED);
            }
        });
        this
    }

    /// Marks that Generate waits, as long as it does. Only a reload leaves the mark.
    fn mark(self, key: String) {
        effect(move || {
            wait_mark::take(&key);
            if self.pressed.read().is_some() {
                wait_mark::set(&key);
            }
        });
    }

    /// Whether a press waits; not tracked.
    pub fn is_waiting(self) -> bool {
        self.pressed.with_untracked(Option::is_some)
    }

    /// Waits if the service must be asked whether it still has files of these rows, and calls `resume` after that. Returns
    /// whether it waits. Files that are being uploaded are checked after that.
    pub fn begin_check(self, which: Which, resume: Rc<dyn Fn()>) -> bool {
        let is_uploading =
            (self.composer.table).with_untracked(|it| PressedRows::new(it).is_some());
        if is_uploading || self.is_checked.get_value() {
            return false;
        }
        let due = self.lost_files.due(which);
        if due.is_empty() {
            return false;
        }
        self.message.set(CHECKING.to_owned());
        let items = lost_files::items(self.composer, which);
        let at = |is_done| {
            let items = items.clone();
            Wait::Check {
                which,
                items,
                is_done,
            }
        };
        self.start(at(false), resume);
        let (pressed, done) = (self.pressed.get_untracked(), at(true));
        spawn(async move {
            self.lost_files.check(due).await;
            // The user may have canceled it.
            if self.pressed.try_get_untracked() == Some(pressed) {
                self.pressed.update(|pressed| {
                    if let Some(pressed) = pressed {
                        pressed.wait = done;
                    }
                });
            }
        });
        true
    }

    /// Waits if files of the rows are being uploaded, and calls `resume` after that. Returns whether it waits.
    pub fn begin(self, resume: Rc<dyn Fn()>) -> bool {
        let rows = self.composer.table.with_untracked(PressedRows::new);
        let Some(rows) = rows else {
            return false;
        };
        self.start(Wait::Uploads(rows), resume);
        true
    }

    fn start(self, wait: Wait, resume: Rc<dyn Fn()>) {
        let account = untrack(|| self.composer.all.get_value().session.account());
        self.composer.answer.clear();
        self.resume.set_value(Some(resume));
        self.pressed.set(Some(Pressed { wait, account }));
    }

    fn follow(self) {
        let (composer, all) = (self.composer, contexts());
        effect(move || {
            let Some(pressed) = self.pressed.get() else {
                return;
            };
            let url = |key: &str| files::url(all, key);
            let next = match &pressed.wait {
                Wait::Uploads(rows) => rows.next(&composer.table.read(), &url),
                Wait::Check { is_done: false, .. } => return,
                Wait::Check { which, items, .. } => {
                    let is_same = lost_files::items(composer, *which) == *items
                        && composer.block_message.read_untracked().is_none()
                        && untrack(|| all.session.account()) == pressed.account;
                    match is_same {
                        true => self.resume(true),
                        false => self.stop(CHANGED.to_owned()),
                    }
                    return;
                }
            };
            // Items that the user has typed meanwhile would be sent, too.
            let is_changed = all.session.account() != pressed.account
                || composer.block_message.read().is_some()
                || composer.offered.read().is_some();
            match next {
                FileWait::Stop(message) => self.stop(message),
                FileWait::Wait(message) => self.message.set(message),
                FileWait::Send if is_changed => self.stop(CHANGED.to_owned()),
                FileWait::Send => self.resume(false),
            }
        });
    }

    /// Presses Generate again. `is_checked`: whether the files of the rows were checked.
    fn resume(self, is_checked: bool) {
        self.pressed.set(None);
        let resume = self.resume.try_update_value(Option::take).flatten();
        // Later, because signals that are created in an effect are disposed with it.
        spawn(async move {
            if !self.pressed.is_disposed() {
                self.is_checked.set_value(is_checked);
                resume.into_iter().for_each(|resume| resume());
                self.is_checked.try_set_value(false);
            }
        });
    }

    fn stop(self, message: String) {
        self.pressed.set(None);
        self.resume.set_value(None);
        self.composer.answer.say(message);
    }

    /// The message while Generate waits, with a button that takes the press back.
    pub fn view(self) -> AnyView {
        let is_waiting = when(move || self.pressed.read().is_some());
        let message = text(move || match is_waiting.get() {
            true => self.message.get(),
            false => String::new(),
        });
        wait_line(message, is_waiting, move || {
            self.pressed.set(None);
            self.resume.set_value(None);
        })
    }
}
