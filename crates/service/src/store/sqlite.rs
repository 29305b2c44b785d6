//! Stores the tasks in SQLite, for one process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use atelier_contract::{ModelId, StatusWord};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::{
    EndPosition, Ended, Failed, FirstResponse, Order, Progress, Store, StoreError, Task,
    Unfinished, json, now_ms, oldest_valid_key_ms,
};
use crate::changes::Changes;
use crate::idempotency::Submission;
use crate::report::{Preview, Report};
use crate::secrets::Secrets;
use crate::uploads::Upload;

mod answer;
mod cancel;
mod changed;
mod migrations;
mod secret;
mod upload;
mod usage;
mod webhook;

use changed::ChangedTasks;
use migrations::MIGRATIONS;

/// The database. A single connection suffices: apart from commits, its statements take microseconds.
#[derive(Debug)]
pub struct Sqlite {
    connection: Mutex<Connection>,
    /// Whether the write-ahead log may contain secrets of ended tasks.
    has_old_secrets: AtomicBool,
    changed: ChangedTasks,
}

/// The schema version of this program.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

impl Sqlite {
    /// Opens the database, and creates or migrates it. Locks it for this process.
    ///
    /// # Errors
    ///
    /// [`StoreError::Newer`] if a newer version of this program wrote it, [`StoreError::Database`] if another
    /// process has locked it, or it can't be read or written.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut connection = Connection::open(path)?;
        // Exclusive: two services on one directory would both run the same tasks.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A task may cost money, so it has to survive a power failure.
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Overwrites deleted data with zeros, because it may have been a secret.
        connection.pragma_update(None, "secure_delete", "ON")?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let missing = usize::try_from(version)
            .ok()
            .and_then(|version| MIGRATIONS.get(version..))
            .ok_or(StoreError::Newer(version))?;
        // Without missing migrations nothing is written, so that the service can start on a full disk.
        if !missing.is_empty() {
            let transaction = connection.transaction()?;
            for migration in missing {
                transaction.execute_batch(migration)?;
            }
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
            transaction.commit()?;
        }
        let database = Self {
            changed: ChangedTasks::of(&connection),
            connection: Mutex::new(connection),
            // A killed process may have left secrets in the log.
            has_old_secrets: AtomicBool::new(true),
        };
        database.with(|connection| {
            database.forget_old_secrets(connection);
            // Without it, they are delivered after their lease.
            if let Err(error) = webhook::release_all(connection) {
                tracing::warn!("webhooks of the last start are delivered later: {error}");
            }
            Ok(())
        })?;
        Ok(database)
    }

    /// Stores that the task has ended. Returns `false` if it had ended before.
    ///
    /// # Errors
    ///
    /// [`StoreError::Database`] if the file can't be written.
    fn finish(
        &self,
        id: &str,
        status: &StatusWord,
        output: &str,
        error: Option<&str>,
        bytes: u64,
    ) -> Result<bool, StoreError> {
        // Under one lock, so that no client sees the end before the secrets are deleted.
        self.with(|connection| {
            let had_secrets = Self::has_secrets(connection, id)?;
            let changed = connection
                .prepare_cached(
                    "UPDATE task SET status = ?2, output = ?3, error = ?4, finished_ms = ?5,
                     bytes = ?6 + coalesce(bytes,
                         (SELECT octet_length(input) FROM input WHERE input.seq = task.seq), 0)
                     WHERE id = ?1 AND finished_ms IS NULL",
                )?
                .execute(params![
                    id,
                    status.as_str(),
                    output,
                    error,
                    now_ms(),
                    i64::try_from(bytes).unwrap_or(i64::MAX),
                ])?;
            self.has_old_secrets
                .fetch_or(had_secrets, Ordering::Relaxed);
            self.forget_old_secrets(connection);
            Ok(changed > 0)
        })
    }

    /// Runs `work` with the connection locked.
    ///
    /// # Errors
    ///
    /// [`StoreError::Database`] if `work` fails.
    fn with<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // After a panic between two statements, the database is as consistent as after a kill.
        let connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let done = work(&connection);
        self.changed.announce(&connection);
        Ok(done?)
    }
}

impl Store for Sqlite {
    fn insert(
        &self,
        task: &Task,
        submission: Option<&Submission>,
    ) -> Result<Option<FirstResponse>, StoreError> {
        let now = now_ms();
        let input = Value::Object(task.input.clone()).to_string();
        self.with(|connection| {
            // The connection is locked, so no other transaction can begin before this one ends.
            let transaction = connection.unchecked_transaction()?;
            if let Some(submission) = submission {
                if let Some(first_response) = first_response(&transaction, submission, now)? {
                    return Ok(Some(first_response));
                }
                transaction
                    .prepare_cached("DELETE FROM submission WHERE created_ms <= ?1")?
                    .execute([oldest_valid_key_ms(now)])?;
                transaction
                    .prepare_cached(
                        "INSERT INTO submission (account, key, fingerprint, id, status, created_ms)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    )?
                    .execute(params![
                        submission.account,
                        submission.key.as_str(),
                        submission.fingerprint,
                        task.id,
                        task.status.as_str(),
                        now,
                    ])?;
            }
            transaction
                .prepare_cached(
                    "INSERT INTO task (id, uid, category, subcategory, status, created_ms, bytes)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    task.id,
                    task.uid,
                    task.model.category,
                    task.model.subcategory,
                    task.status.as_str(),
                    now,
                    i64::try_from(input.len()).unwrap_or(i64::MAX),
                ])?;
            let seq = transaction.last_insert_rowid();
            transaction
                .prepare_cached("INSERT INTO input (seq, input) VALUES (?1, ?2)")?
                .execute(params![seq, input])?;
            upload::use_in(&transaction, seq, &input)?;
            if let Some(webhook) = &task.webhook {
                webhook::insert(&transaction, seq, webhook)?;
            }
            if let Some(secrets) = task.secrets.to_stored() {
                transaction
                    .prepare_cached("INSERT INTO secret (seq, secret) VALUES (?1, ?2)")?
                    .execute(params![seq, secrets])?;
            }
            transaction.commit()?;
            Ok(None)
        })
    }

    fn first_response(&self, submission: &Submission) -> Result<Option<FirstResponse>, StoreError> {
        self.with(|connection| first_response(connection, submission, now_ms()))
    }

    fn progress(&self, id: &str) -> Result<Option<Progress>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, uid, category, subcategory, status, output, error, canceled > 0, finished_ms
                     FROM task WHERE id = ?1",
                )?
                .query_row([id], read_progress)
                .optional()
        })
    }

    fn order(&self, id: &str) -> Result<Option<Order>, StoreError> {
        let found = self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT category, subcategory, input, sent_ms IS NOT NULL, secret, created_ms
                     FROM task JOIN input USING (seq) LEFT JOIN secret USING (seq)
                     WHERE id = ?1 AND finished_ms IS NULL",
                )?
                .query_row([id], |row| {
                    let model = ModelId::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
                    let secrets: Option<String> = row.get(4)?;
                    let (sent, created) = (row.get(3)?, row.get(5)?);
                    Ok((model, row.get::<_, String>(2)?, sent, secrets, created))
                })
                .optional()
        })?;
        // Parses the input after the connection is unlocked.
        Ok(found.map(|(model, input, sent, secrets, created)| Order {
            model,
            sent,
            created,
            secrets: Secrets::from_stored(secrets.as_deref()),
            is_sender_alive: false,
            input: match json(&input) {
                Value::Object(input) => input,
                _ => Map::new(),
            },
        }))
    }

    fn unfinished(&self) -> Result<Vec<Unfinished>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, uid, category, subcategory, created_ms, input, 1 AS place, seq
                     FROM task JOIN input USING (seq) WHERE finished_ms IS NULL
                     UNION ALL
                     SELECT id, uid, category, subcategory, created_ms, input, 0, seq
                     FROM task JOIN input USING (seq) WHERE canceled = 1
                     ORDER BY place, seq",
                )?
                .query_map([], |row| {
                    Ok(Unfinished {
                        id: row.get(0)?,
                        uid: row.get(1)?,
                        model: ModelId::new(row.get::<_, String>(2)?, row.get::<_, String>(3)?),
                        created: row.get(4)?,
                        input: row.get(5)?,
                    })
                })?
                .collect()
        })
    }

    fn try_write(&self) -> Result<(), StoreError> {
        self.with(|connection| connection.pragma_update(None, "user_version", SCHEMA_VERSION))
    }

    fn set_sent(&self, id: &str, may_resend: bool) -> Result<bool, StoreError> {
        let changed = self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE task SET sent_ms = ?2
                     WHERE id = ?1 AND finished_ms IS NULL AND (sent_ms IS NULL OR ?3)",
                )?
                .execute(params![id, now_ms(), may_resend])
        })?;
        Ok(changed > 0)
    }

    fn set_unsent(&self, id: &str) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("UPDATE task SET sent_ms = NULL WHERE id = ?1")?
                .execute([id])
        })?;
        Ok(())
    }

    fn set_processing(&self, id: &str) -> Result<bool, StoreError> {
        let changed = self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE task SET status = 'processing' WHERE id = ?1 AND finished_ms IS NULL",
                )?
                .execute([id])
        })?;
        Ok(changed > 0)
    }

    fn complete(&self, id: &str, output: &[String], bytes: u64) -> Result<bool, StoreError> {
        let output = serde_json::json!(output).to_string();
        self.finish(id, &StatusWord::Completed, &output, None, bytes)
    }

    /// Every failure is permanent, because no other process can have a result.
    fn fail(&self, id: &str, message: &str, _failure: Failed) -> Result<bool, StoreError> {
        self.finish(id, &StatusWord::Failed, "[]", Some(message), 0)
    }

    fn cancel(&self, id: &str) -> Result<bool, StoreError> {
        cancel::cancel(self, id)
    }

    fn is_stopping(&self, id: &str) -> Result<bool, StoreError> {
        cancel::is_stopping(self, id)
    }

    fn set_stopped(&self, id: &str) -> Result<(), StoreError> {
        cancel::set_stopped(self, id)
    }

    /// Returns no tasks: the only process has canceled them itself.
    fn canceled_of(&self, _ids: &[String]) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Announces the report. It is in the memory of the only process.
    fn set_report(
        &self,
        id: &str,
        _report: &Report,
        _preview: Option<&Preview>,
    ) -> Result<(), StoreError> {
        self.with(|connection| self.changed.add(connection, id))
    }

    fn changes(&self) -> &Arc<Changes> {
        &self.changed.changes
    }

    /// Returns `None`: the only process has the previews in memory.
    fn preview(&self, _id: &str) -> Result<Option<Preview>, StoreError> {
        Ok(None)
    }

    fn save_answer(&self, id: &str, answer: &[u8]) -> Result<bool, StoreError> {
        answer::save_answer(self, id, answer)
    }

    fn saved_answer(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        answer::saved_answer(self, id)
    }

    fn delete_old_secrets(&self, model: &ModelId, names: &[&str]) -> Result<usize, StoreError> {
        secret::delete_old_secrets(self, model, names)
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        usage::bytes(self)
    }

    fn bytes_of(&self, uid: &str) -> Result<u64, StoreError> {
        usage::bytes_of(self, uid)
    }

    fn ended_after(
        &self,
        after: EndPosition,
        before_ms: i64,
        count: usize,
    ) -> Result<Vec<Ended>, StoreError> {
        usage::ended_after(self, after, before_ms, count)
    }

    fn remove(&self, tasks: &[Ended]) -> Result<(), StoreError> {
        usage::remove(self, tasks)
    }

    fn tasks_without_size(&self, count: usize) -> Result<Vec<String>, StoreError> {
        usage::tasks_without_size(self, count)
    }

    fn set_sizes(&self, tasks: &[(String, u64)]) -> Result<(), StoreError> {
        usage::set_sizes(self, tasks)
    }

    fn upload(
        &self,
        owner: &str,
        sha256: &str,
        expires_ms: i64,
    ) -> Result<Option<Upload>, StoreError> {
        upload::find(self, owner, sha256, expires_ms)
    }

    fn add_upload(&self, upload: &Upload) -> Result<Option<Upload>, StoreError> {
        upload::add(self, upload)
    }

    fn expired_uploads(&self, count: usize) -> Result<Vec<String>, StoreError> {
        upload::expired(self, count)
    }

    fn claim_upload(&self, id: &str) -> Result<bool, StoreError> {
        upload::claim(self, id)
    }

    fn remove_upload(&self, id: &str) -> Result<(), StoreError> {
        upload::remove(self, id)
    }
}

fn first_response(
    connection: &Connection,
    submission: &Submission,
    now: i64,
) -> rusqlite::Result<Option<FirstResponse>> {
    connection
        .prepare_cached(
            "SELECT id, status, fingerprint FROM submission
             WHERE account = ?1 AND key = ?2 AND created_ms > ?3",
        )?
        .query_row(
            params![
                submission.account,
                submission.key.as_str(),
                oldest_valid_key_ms(now)
            ],
            |row| {
                Ok(FirstResponse {
                    id: row.get(0)?,
                    status: StatusWord::from(row.get::<_, String>(1)?.as_str()),
                    fingerprint: row.get(2)?,
                })
            },
        )
        .optional()
}

fn read_progress(row: &Row<'_>) -> rusqlite::Result<Progress> {
    let status: String = row.get(4)?;
    Ok(Progress {
        id: row.get(0)?,
        uid: row.get(1)?,
        model: ModelId::new(row.get::<_, String>(2)?, row.get::<_, String>(3)?),
        status: StatusWord::from(status.as_str()),
        output: serde_json::from_value(json(&row.get::<_, String>(5)?)).unwrap_or_default(),
        error: row.get(6)?,
        report: None,
        canceled: row.get(7)?,
        ended_ms: row.get(8)?,
    })
}

/// Returns the schema version of a database, without a migration.
///
/// # Errors
///
/// [`StoreError::Database`] if the file is missing or is not a database, or another process has locked it.
pub fn version_of(path: &Path) -> Result<i64, StoreError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Ok(connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests;
