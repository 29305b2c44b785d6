//! The disk usage of tasks, and the removal of old tasks and other expired rows.

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::{Postgres, queue_tables};
use crate::store::{EndPosition, Ended, StoreError, now_ms, oldest_valid_key_ms};

pub fn bytes(db: &Postgres) -> Result<u64, StoreError> {
    db.sum(
        "SELECT (coalesce(sum(bytes), 0) - (SELECT coalesce(sum(bytes), 0) FROM upload))::bigint
         FROM usage WHERE $1 = ''",
        "",
    )
}

pub fn bytes_of(db: &Postgres, uid: &str) -> Result<u64, StoreError> {
    db.sum(
        "SELECT coalesce(sum(bytes), 0)::bigint FROM usage WHERE uid = $1",
        uid,
    )
}

/// Returns the oldest ended tasks. Skips tasks whose outputs are the input of an unfinished task.
pub fn ended_after(
    db: &Postgres,
    after: EndPosition,
    before_ms: i64,
    count: usize,
) -> Result<Vec<Ended>, StoreError> {
    let rows = db.wait(
        sqlx::query(
            "SELECT id, finished_ms, seq, bytes FROM task
             WHERE finished_ms IS NOT NULL AND (finished_ms, seq) > ($1, $2)
             AND finished_ms < $3
             AND NOT EXISTS (SELECT 1 FROM hold WHERE held = task.id)
             ORDER BY finished_ms, seq LIMIT $4",
        )
        .bind(after.ended_ms)
        .bind(after.seq)
        .bind(before_ms)
        .bind(count as i64)
        .fetch_all(&db.pool),
    )?;
    let read = |row: &PgRow| Ended {
        id: row.get(0),
        position: EndPosition {
            ended_ms: row.get(1),
            seq: row.get(2),
        },
        bytes: row.get::<i64, _>(3).max(0).unsigned_abs(),
    };
    Ok(rows.iter().map(read).collect())
}

pub fn remove(db: &Postgres, tasks: &[Ended]) -> Result<(), StoreError> {
    let numbers: Vec<i64> = tasks.iter().map(|task| task.position.seq).collect();
    db.wait(
        sqlx::query("DELETE FROM task WHERE seq = ANY($1) AND finished_ms IS NOT NULL")
            .bind(numbers)
            .execute(&db.pool),
    )?;
    Ok(())
}

impl Postgres {
    fn sum(&self, statement: &'static str, uid: &str) -> Result<u64, StoreError> {
        let query = sqlx::query_scalar(statement).bind(uid);
        let bytes: i64 = self.wait(query.fetch_one(&self.pool))?;
        Ok(bytes.max(0).unsigned_abs())
    }

    /// Deletes expired rows: idempotency keys, finished jobs, dead workers, turns of ended tasks and full token
    /// buckets.
    ///
    /// # Errors
    ///
    /// The database does not respond, or a statement fails. Later statements are not run then.
    pub fn delete_expired(&self) -> Result<(), StoreError> {
        self.wait(async {
            for (statement, before) in [
                (
                    "DELETE FROM submission WHERE created_ms <= $1",
                    oldest_valid_key_ms(now_ms()),
                ),
                (queue_tables::DELETE_OLD_JOBS, now_ms() - 60_000),
                (queue_tables::DELETE_OLD_WORKERS, now_ms() - 3_600_000),
                (
                    "DELETE FROM turn WHERE since < to_timestamp($1 / 1000.0) AND EXISTS
                     (SELECT FROM task WHERE id = turn.task AND finished_ms IS NOT NULL)",
                    now_ms() - 60_000,
                ),
                (
                    "DELETE FROM allowance WHERE filled < to_timestamp($1 / 1000.0)",
                    now_ms() - 600_000,
                ),
            ] {
                sqlx::query(statement)
                    .bind(before)
                    .execute(&self.pool)
                    .await?;
            }
            Ok(())
        })
    }
}
