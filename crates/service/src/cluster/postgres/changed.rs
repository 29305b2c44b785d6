//! Tells all processes which tasks have changed, with notifications of the database. A trigger sends those of changed tasks,
//! and the process that accepts a new task sends its notification.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::changes::{Changes, MAX_UID};

/// The name of the notifications. Also in the migration that creates the trigger.
const CHANNEL: &str = "atelier_task";

/// The time without a notification after which the connection is checked.
const CHECK: Duration = Duration::from_secs(30);

/// The pause before the connection is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the notifications of new tasks are collected. Transactions with notifications commit one after the other, each
/// with its own flush to the disk, so that a notification for each new task makes calls wait.
const COLLECT: Duration = Duration::from_millis(50);

/// The maximum number of notifications in one transaction.
const MAX_TOGETHER: usize = 1000;

/// Returns the notification of a new task; `None` if the name of its user is too long for one.
pub fn notification(id: &str, uid: &str) -> Option<String> {
    (uid.len() < MAX_UID).then(|| format!("{id} {uid}"))
}

/// Sends the notifications of new tasks until their sender is dropped. Those that can't be sent are lost: the streams of
/// other processes learn about the task when it starts.
pub async fn send(pool: PgPool, mut notifications: UnboundedReceiver<String>) {
    let mut together = Vec::new();
    while notifications.recv_many(&mut together, MAX_TOGETHER).await > 0 {
        let sent =
            sqlx::query("SELECT pg_notify($1, notification) FROM unnest($2) AS notification")
                .bind(CHANNEL)
                .bind(&together)
                .execute(&pool)
                .await;
        if let Err(error) = sent {
            tracing::warn!("{} new tasks are not announced: {error}", together.len());
        }
        together.clear();
        tokio::time::sleep(COLLECT).await;
    }
}

/// Announces all changes until the process ends.
pub async fn receive(pool: PgPool, changes: Arc<Changes>) {
    loop {
        if let Err(error) = receive_until_lost(&pool, &changes).await {
            tracing::warn!("changed tasks are not announced: {error}");
        }
        changes.announce_gap();
        tokio::time::sleep(PAUSE).await;
    }
}

async fn receive_until_lost(pool: &PgPool, changes: &Changes) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    // Tasks may have changed before.
    changes.announce_gap();
    loop {
        match tokio::time::timeout(CHECK, listener.try_recv()).await {
            Ok(Ok(Some(notification))) => {
                if let Some((id, uid)) = notification.payload().split_once(' ') {
                    changes.announce(uid, id);
                }
            }
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) => return Err(error),
            // The other side may have vanished without closing the connection.
            Err(_) => {
                let check = sqlx::query("SELECT 1").execute(&mut listener);
                let checked = tokio::time::timeout(CHECK, check).await;
                checked.map_err(|_| sqlx::Error::PoolTimedOut)??;
            }
        }
    }
}
