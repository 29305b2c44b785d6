//! Stores which tasks were sent to their model's server, and by which process.

use std::time::Duration;

use atelier_contract::ModelId;
use serde_json::{Map, Value};
use sqlx::Row;

use super::{PROCESS, Postgres, queue_tables};
use crate::secrets::Secrets;
use crate::store::{Order, StoreError, json};

/// How long after its last heartbeat a process is assumed to wait for the responses to tasks that it sent. A result
/// that it receives later is still accepted.
const SENDER_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns `None` for an ended task: another process may have finished it.
pub fn order(db: &Postgres, id: &str) -> Result<Option<Order>, StoreError> {
    db.wait(async {
        let row = sqlx::query(queue_tables::ORDER)
            .bind(id)
            .bind(PROCESS.as_str())
            .bind(SENDER_TIMEOUT.as_secs_f64())
            .fetch_optional(&db.pool)
            .await?;
        Ok(row.map(|row| Order {
            model: ModelId::new(row.get::<String, _>(0), row.get::<String, _>(1)),
            input: match json(row.get(2)) {
                Value::Object(input) => input,
                _ => Map::new(),
            },
            sent: row.get(3),
            is_sender_alive: row.get(4),
            secrets: Secrets::from_stored(row.get(5)),
            created: row.get(6),
        }))
    })
}

pub fn set_sent(db: &Postgres, id: &str, may_resend: bool) -> Result<bool, StoreError> {
    let changed = db.wait(
        sqlx::query(
            "UPDATE task SET sent_ms = (extract(epoch FROM now()) * 1000)::bigint, sent_by = $2
             WHERE id = $1 AND finished_ms IS NULL AND (sent_ms IS NULL OR $3)",
        )
        .bind(id)
        .bind(PROCESS.as_str())
        .bind(may_resend)
        .execute(&db.pool),
    )?;
    Ok(changed.rows_affected() > 0)
}

pub fn set_unsent(db: &Postgres, id: &str) -> Result<(), StoreError> {
    db.update(
        "UPDATE task SET sent_ms = NULL, sent_by = NULL WHERE id = $1",
        id,
    )
}

impl Postgres {
    /// Stores that this process no longer waits for responses. Called before it exits.
    ///
    /// # Errors
    ///
    /// The database does not respond, or the statement fails.
    pub fn release_sent(&self) -> Result<(), StoreError> {
        self.update(
            "UPDATE task SET sent_by = NULL WHERE sent_by = $1 AND finished_ms IS NULL",
            PROCESS.as_str(),
        )
    }
}
