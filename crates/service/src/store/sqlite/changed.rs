//! Announces which tasks have changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension};

use crate::changes::Changes;

/// The tasks that have changed since the last announcement.
#[derive(Debug)]
pub struct ChangedTasks {
    /// The numbers of their rows.
    rows: Arc<Mutex<Vec<i64>>>,
    pub changes: Arc<Changes>,
}

impl ChangedTasks {
    /// Observes the tasks in this database.
    pub fn of(connection: &Connection) -> Self {
        let rows = Arc::<Mutex<Vec<i64>>>::default();
        let changed = rows.clone();
        connection.update_hook(Some(move |_, _: &str, table: &str, row| {
            if table == "task" {
                let mut rows = lock(&changed);
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
            }
        }));
        Self {
            rows,
            changes: Arc::default(),
        }
    }

    /// Adds a task whose row has not changed.
    pub fn add(&self, connection: &Connection, id: &str) -> rusqlite::Result<()> {
        let row: Option<i64> = connection
            .prepare_cached("SELECT seq FROM task WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        lock(&self.rows).extend(row);
        Ok(())
    }

    /// Announces the changed tasks that still exist. Call it after the transaction.
    pub fn announce(&self, connection: &Connection) {
        let rows = std::mem::take(&mut *lock(&self.rows));
        if rows.is_empty() {
            return;
        }
        if let Err(error) = self.announce_rows(connection, &rows) {
            tracing::warn!("changed tasks are not announced: {error}");
        }
    }

    fn announce_rows(&self, connection: &Connection, rows: &[i64]) -> rusqlite::Result<()> {
        let mut select = connection.prepare_cached("SELECT uid, id FROM task WHERE seq = ?1")?;
        for row in rows {
            let found = select.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)));
            let found: Option<(String, String)> = found.optional()?;
            if let Some((uid, id)) = found {
                self.changes.announce(&uid, &id);
            }
        }
        Ok(())
    }
}

fn lock(rows: &Mutex<Vec<i64>>) -> MutexGuard<'_, Vec<i64>> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}
