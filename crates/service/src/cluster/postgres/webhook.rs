//! Webhooks in PostgreSQL, for any number of processes.

use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::{Postgres as Database, Row, Transaction};

use super::Postgres;
use crate::store::webhook::WebhookStore;
use crate::store::{StoreError, after_ms, now_ms};
use crate::webhooks::{Delivery, Event, Webhook};

pub async fn insert(
    transaction: &mut Transaction<'_, Database>,
    task: &str,
    webhook: &Webhook,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO webhook (task, url, host, on_started, on_completed) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(task)
    .bind(&webhook.url)
    .bind(&webhook.host)
    .bind(webhook.events.contains(&Event::Started))
    .bind(webhook.events.contains(&Event::Completed))
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Returns the secret of all processes, after storing `new` if there is none.
pub fn secret(db: &Postgres, new: &str) -> Result<String, StoreError> {
    db.wait(async {
        sqlx::query("INSERT INTO webhook_secret (secret) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(new)
            .execute(&db.pool)
            .await?;
        let stored = sqlx::query_scalar("SELECT secret FROM webhook_secret");
        Ok(stored.fetch_one(&db.pool).await?)
    })
}

impl WebhookStore for Postgres {
    fn claim_webhook(
        &self,
        busy: &[String],
        lease: Duration,
    ) -> Result<Option<Delivery>, StoreError> {
        let now = now_ms();
        let row = self.wait(
            sqlx::query(
                "WITH RECURSIVE hosts (host) AS (
                     SELECT min(host) FROM webhook_event
                     UNION ALL
                     SELECT (SELECT min(webhook_event.host) FROM webhook_event WHERE webhook_event.host > hosts.host)
                     FROM hosts WHERE hosts.host IS NOT NULL
                 )
                 UPDATE webhook_event SET leased_ms = $3, attempts = attempts + 1 FROM webhook
                 WHERE webhook.task = webhook_event.task AND webhook_event.id = (
                     SELECT due.id FROM hosts CROSS JOIN LATERAL (
                         SELECT id, due_ms FROM webhook_event
                         WHERE host = hosts.host AND due_ms <= $1 AND (leased_ms IS NULL OR leased_ms <= $1)
                         AND EXISTS (SELECT FROM webhook WHERE webhook.task = webhook_event.task)
                         ORDER BY due_ms LIMIT 1 FOR UPDATE SKIP LOCKED
                     ) AS due
                     WHERE hosts.host <> ALL($2) ORDER BY due.due_ms LIMIT 1
                 )
                 RETURNING webhook_event.id, webhook_event.task, event, url, webhook.host, occurred_ms, attempts",
            )
            .bind(now)
            .bind(busy)
            .bind(after_ms(now, lease))
            .fetch_optional(&self.pool),
        )?;
        Ok(row.as_ref().map(read))
    }

    fn retry_webhook(&self, id: &str, attempt: u32, pause: Duration) -> Result<(), StoreError> {
        self.wait(
            sqlx::query(
                "UPDATE webhook_event SET due_ms = $3, leased_ms = NULL WHERE id = $1 AND attempts = $2",
            )
            .bind(id)
            .bind(i64::from(attempt))
            .bind(after_ms(now_ms(), pause))
            .execute(&self.pool),
        )?;
        Ok(())
    }

    fn release_webhook(&self, id: &str, attempt: u32) -> Result<(), StoreError> {
        self.wait(
            sqlx::query(
                "UPDATE webhook_event SET leased_ms = NULL WHERE id = $1 AND attempts = $2",
            )
            .bind(id)
            .bind(i64::from(attempt))
            .execute(&self.pool),
        )?;
        Ok(())
    }

    /// Keeps the webhook of a failed task that may still be completed, until it expires.
    ///
    /// Locks the task, so that of the transactions that end it, delete it or remove its events, the last one sees the changes of
    /// the others. Each of them locks the task first, so that no two of them wait for each other.
    fn remove_webhook(&self, delivery: &Delivery) -> Result<(), StoreError> {
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            sqlx::query("SELECT FROM task WHERE id = $1 FOR UPDATE")
                .bind(&delivery.task)
                .execute(&mut *transaction)
                .await?;
            sqlx::query("DELETE FROM webhook_event WHERE id = $1")
                .bind(&delivery.id)
                .execute(&mut *transaction)
                .await?;
            sqlx::query(
                "DELETE FROM webhook WHERE task = $1
                 AND EXISTS (SELECT FROM task WHERE id = $1 AND finished_ms IS NOT NULL AND NOT awaits_result)
                 AND NOT EXISTS (SELECT FROM webhook_event WHERE task = $1)",
            )
            .bind(&delivery.task)
            .execute(&mut *transaction)
            .await?;
            transaction.commit().await?;
            Ok(())
        })
    }

    /// Waits for no other transaction, because those that delete several tasks lock their events in another order: what is
    /// locked is removed the next time. Events and webhooks are removed in separate transactions, because the deletion of a task
    /// locks its webhook first.
    fn expire_webhooks(&self, oldest_ms: i64) -> Result<u64, StoreError> {
        self.wait(async {
            let expired = sqlx::query(
                "DELETE FROM webhook_event WHERE id IN (
                     SELECT id FROM webhook_event
                     WHERE occurred_ms < $1 AND (leased_ms IS NULL OR leased_ms <= $2)
                     FOR UPDATE SKIP LOCKED
                 )",
            )
            .bind(oldest_ms)
            .bind(now_ms())
            .execute(&self.pool)
            .await?;
            sqlx::query(
                "DELETE FROM webhook WHERE task IN (
                     SELECT webhook.task FROM webhook
                     WHERE EXISTS (SELECT FROM task WHERE task.id = webhook.task AND finished_ms < $1)
                     AND NOT EXISTS (SELECT FROM webhook_event WHERE webhook_event.task = webhook.task)
                     FOR UPDATE SKIP LOCKED
                 )",
            )
            .bind(oldest_ms)
            .execute(&self.pool)
            .await?;
            Ok(expired.rows_affected())
        })
    }

    fn webhooks_waiting(&self) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar("SELECT count(*) FROM webhook_event");
        let count: i64 = self.wait(count.fetch_one(&self.pool))?;
        Ok(count.max(0).unsigned_abs())
    }
}

fn read(row: &PgRow) -> Delivery {
    Delivery {
        id: row.get(0),
        task: row.get(1),
        event: Event::of_name(row.get(2)).unwrap_or(Event::Completed),
        url: row.get(3),
        host: row.get(4),
        occurred_ms: row.get(5),
        attempt: row.get::<i32, _>(6).max(0).unsigned_abs(),
    }
}
