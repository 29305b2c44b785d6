//! Receives from the database which tasks have changed, also by other processes. A trigger sends the notifications.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;

use crate::changes::Changes;

/// The name of the notifications. Also in the migration that creates the trigger.
const CHANNEL: &str = "atelier_task";

/// The time without a notification after which the connection is checked.
const CHECK: Duration = Duration::from_secs(30);

/// The pause before the connection is opened again.
const PAUSE: Duration = Duration::from_secs(1);

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
