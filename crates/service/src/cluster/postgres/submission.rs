//! Accepts tasks, and each idempotency key only once across all processes.

use atelier_contract::StatusWord;
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{Postgres as Database, Row, Transaction};

use super::{Postgres, changed, upload, webhook};
use crate::idempotency::Submission;
use crate::outputs::pins::tasks_in;
use crate::store::{FirstResponse, StoreError, Task, now_ms, oldest_valid_key_ms};

pub fn insert(
    db: &Postgres,
    task: &Task,
    submission: Option<&Submission>,
) -> Result<Option<FirstResponse>, StoreError> {
    let now = now_ms();
    let input = Value::Object(task.input.clone()).to_string();
    db.wait(async {
        let mut transaction = db.pool.begin().await?;
        if let Some(submission) = submission
            && let Some(first_response) =
                store_submission(&mut transaction, task, submission, now).await?
        {
            return Ok(Some(first_response));
        }
        // Locks the uploads before the task is inserted: the removal of an upload also locks the upload first, and then
        // the usage of its owner.
        let used = upload::use_in(&mut transaction, &input).await?;
        sqlx::query(
            "INSERT INTO task (id, uid, category, subcategory, input, status, created_ms, bytes)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(&task.id)
        .bind(&task.uid)
        .bind(&task.model.category)
        .bind(&task.model.subcategory)
        .bind(&input)
        .bind(task.status.as_str())
        .bind(now)
        .bind(i64::try_from(input.len()).unwrap_or(i64::MAX))
        .execute(&mut *transaction)
        .await?;
        if let Some(secrets) = task.secrets.to_stored() {
            sqlx::query("INSERT INTO secret VALUES ($1, $2)")
                .bind(&task.id)
                .bind(secrets)
                .execute(&mut *transaction)
                .await?;
        }
        if let Some(webhook) = &task.webhook {
            webhook::insert(&mut transaction, &task.id, webhook).await?;
        }
        for pinned in tasks_in(&input) {
            sqlx::query("INSERT INTO hold VALUES ($1, $2) ON CONFLICT DO NOTHING")
                .bind(pinned)
                .bind(&task.id)
                .execute(&mut *transaction)
                .await?;
        }
        for upload in used {
            sqlx::query("INSERT INTO upload_use VALUES ($1, $2)")
                .bind(upload)
                .bind(&task.id)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        if let Some(notification) = changed::notification(&task.id, &task.uid) {
            // It fails if the process ends.
            let _ = db.notifications.send(notification);
        }
        Ok(None)
    })
}

pub fn first_response(
    db: &Postgres,
    submission: &Submission,
) -> Result<Option<FirstResponse>, StoreError> {
    db.wait(async {
        let row = sqlx::query(FIRST_RESPONSE)
            .bind(&submission.account)
            .bind(submission.key.as_str())
            .bind(oldest_valid_key_ms(now_ms()))
            .fetch_optional(&db.pool)
            .await?;
        Ok(row.as_ref().map(read_first_response))
    })
}

const FIRST_RESPONSE: &str = "SELECT id, status, fingerprint FROM submission
     WHERE account = $1 AND key = $2 AND created_ms > $3";

/// Stores the response to a key, unless the key was used before; returns the earlier response then. Waits for
/// concurrent calls with the same key, at any process.
async fn store_submission(
    transaction: &mut Transaction<'_, Database>,
    task: &Task,
    submission: &Submission,
    now: i64,
) -> Result<Option<FirstResponse>, sqlx::Error> {
    let (account, key) = (&submission.account, submission.key.as_str());
    let written = sqlx::query(
        "INSERT INTO submission VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (account, key) DO UPDATE SET fingerprint = excluded.fingerprint,
         id = excluded.id, status = excluded.status, created_ms = excluded.created_ms
         WHERE submission.created_ms <= $7",
    )
    .bind(account)
    .bind(key)
    .bind(&submission.fingerprint)
    .bind(&task.id)
    .bind(task.status.as_str())
    .bind(now)
    .bind(oldest_valid_key_ms(now))
    .execute(&mut **transaction)
    .await?;
    if written.rows_affected() == 1 {
        return Ok(None);
    }
    let row = sqlx::query(FIRST_RESPONSE)
        .bind(account)
        .bind(key)
        .bind(oldest_valid_key_ms(now))
        .fetch_one(&mut **transaction)
        .await?;
    Ok(Some(read_first_response(&row)))
}

fn read_first_response(row: &PgRow) -> FirstResponse {
    FirstResponse {
        id: row.get(0),
        status: StatusWord::from(row.get::<&str, _>(1)),
        fingerprint: row.get(2),
    }
}
