//! Saves the responses of model servers until their tasks have ended.

use rusqlite::{OptionalExtension, params};

use super::Sqlite;
use crate::store::StoreError;

pub fn save_answer(db: &Sqlite, id: &str, answer: &[u8]) -> Result<bool, StoreError> {
    let saved = db.with(|connection| {
        connection
            .prepare_cached(
                "INSERT INTO answer (seq, answer)
                 SELECT seq, ?2 FROM task WHERE id = ?1 AND finished_ms IS NULL
                 ON CONFLICT (seq) DO UPDATE SET answer = answer",
            )?
            .execute(params![id, answer])
    })?;
    Ok(saved > 0)
}

pub fn saved_answer(db: &Sqlite, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
    db.with(|connection| {
        connection
            .prepare_cached("SELECT answer FROM answer JOIN task USING (seq) WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()
    })
}
