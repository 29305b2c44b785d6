//! The connection to storage: opened, lost, opened again. While there is none, tasks are kept in
//! memory alone, and the page says so.

use futures::future::{Either, FutureExt, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::Runner;
use super::tab_message::TabMessage;
use crate::boxed::spawn;
use crate::browser::clock;
use crate::browser::storage::{Storage, StorageError};

/// How long storage may take to open before the page goes on without it.
const OPEN_TIMEOUT_MS: u32 = 3_000;

/// The waits between tries to make storage work again: at once, then doubling.
const FIRST_RETRY_MS: u32 = 500;
const LONGEST_RETRY_MS: u32 = 30_000;

impl Runner {
    /// Opens storage and shows what is in it.
    ///
    /// # Errors
    ///
    /// It can't be opened or read, or does not answer in time; it may open later all the same.
    pub(super) async fn connect(self) -> Result<(), StorageError> {
        let is_opening = self
            .inner
            .try_update_value(|inner| std::mem::replace(&mut inner.is_opening, true));
        if is_opening != Some(false) {
            return Err(StorageError::Silent);
        }
        let connection = self.inner.try_update_value(|inner| {
            inner.connection += 1;
            inner.connection
        });
        let connection = connection.unwrap_or_default();
        let opening = async move {
            let on_gone = move || self.storage_failed(StorageError::Closed, connection);
            let opened = Storage::open(on_gone).await;
            self.inner.update_value(|inner| {
                inner.is_opening = false;
                inner.storage = opened.as_ref().ok().cloned();
            });
            opened.map(|_| ())
        };
        match select(opening.boxed_local(), TimeoutFuture::new(OPEN_TIMEOUT_MS)).await {
            Either::Left((opened, _)) => {
                opened?;
                self.merge_stored().await
            }
            Either::Right((_, opening)) => {
                // It may answer yet, for instance when another tab no longer blocks it. Whoever
                // tries to recover finds it open then.
                spawn(async move {
                    let _ = opening.await;
                });
                Err(StorageError::Silent)
            }
        }
    }

    /// Whether storage was read: a task that is not known then is none.
    pub fn has_read_tasks(&self) -> bool {
        self.inner.with_value(|inner| inner.had_storage)
    }

    /// Takes over what storage has.
    async fn merge_stored(self) -> Result<(), StorageError> {
        let stored = self.read_all().await?;
        self.merge_remote(stored);
        self.copies_changed.update(|changes| *changes += 1);
        // A leader takes on what it has not known.
        self.with_engine(|_| {});
        Ok(())
    }

    /// Takes over the tasks that storage has and this tab has not heard of. Of all others it has heard
    /// something newer.
    pub(super) async fn merge_unheard(self) {
        // Where it can't be read now, it is once this tab's own storage works.
        let mut stored = self.read_all().await.unwrap_or_default();
        self.inner.try_with_value(|inner| {
            stored.retain(|task| inner.engine.task(&task.key).is_none());
        });
        self.merge_remote(stored);
    }

    /// Something was not read or written on a connection. Says so until it is mended, and mends it.
    pub(super) fn storage_failed(self, error: StorageError, connection: u64) {
        let before = self.inner.try_update_value(|inner| {
            if inner.connection != connection {
                return None;
            }
            if error != StorageError::Full {
                inner.storage = None;
            }
            inner.is_unwritten |= error == StorageError::Closed && inner.had_storage;
            Some(inner.had_storage)
        });
        let Some(had_worked) = before.flatten() else {
            return;
        };
        self.set_storage_error(Some(error));
        self.with_engine(|engine| engine.set_storage_works(false, had_worked, clock::now()));
        self.start_recovery();
    }

    pub(super) fn start_recovery(self) {
        let is_recovering = self
            .inner
            .try_update_value(|inner| std::mem::replace(&mut inner.is_recovering, true));
        if is_recovering == Some(false) {
            spawn(self.recover());
        }
    }

    /// Tries until storage works again, and then writes what could not be written.
    async fn recover(self) {
        let mut wait = 0;
        loop {
            match self.write_again(wait).await {
                Ok(()) if self.storage().is_some() && !self.has_to_write() => break,
                // It has gone again meanwhile, or this tab leads now and did not when it wrote.
                Ok(()) => {}
                Err(error) => {
                    if error != StorageError::Full {
                        self.inner.update_value(|inner| inner.storage = None);
                    }
                    self.set_storage_error(Some(error));
                }
            }
            wait = (wait * 2).clamp(FIRST_RETRY_MS, LONGEST_RETRY_MS);
        }
        self.inner.update_value(|inner| {
            inner.is_recovering = false;
            inner.had_storage = true;
        });
        self.set_storage_error(None);
        self.with_engine(|engine| engine.set_storage_works(true, true, clock::now()));
        if self.generation().is_some() {
            self.tell(&TabMessage::Stored);
        }
    }

    fn has_to_write(&self) -> bool {
        self.inner
            .with_value(|inner| inner.leading && inner.is_unwritten)
    }

    async fn write_again(self, wait_ms: u32) -> Result<(), StorageError> {
        TimeoutFuture::new(wait_ms).await;
        if self.storage().is_none() {
            self.connect().await?;
        } else {
            self.merge_stored().await?;
        }
        // Whoever leads by now has written something newer.
        self.check_leadership();
        self.write_all().await
    }

    fn set_storage_error(&self, error: Option<StorageError>) {
        if error == Some(StorageError::Newer) {
            // The newer one can write what it leads; this one can't.
            self.resign();
        }
        if self.storage_error.get_untracked() != error {
            self.storage_error.set(error);
            self.tell_state();
        }
    }

    /// Why tasks are kept in memory alone, here or in the tab that makes the calls; tracked.
    pub fn storage_error(&self) -> Option<StorageError> {
        let own = self.storage_error.get();
        own.or(self.leader_storage_error.get())
    }

    /// The person wants tasks to be sent although they can't be kept.
    pub fn send_unkept(&self) {
        self.with_engine(|engine| engine.accept_unkept(clock::now()));
        self.tell(&TabMessage::SendUnkept);
    }
}
