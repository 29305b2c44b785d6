//! Receives from the database which tasks have changed, also by other processes. A trigger sends the notifications.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::PgListener;

use crate::changes::Changes;

/// The name of the notifications. Also in the migration that creates the trigger.
const CHANNEL: &str = "atelier_task";

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
    while let Some(notification) = listener.try_recv().await? {
        if let Some((id, uid)) = notification.payload().split_once(' ') {
            changes.announce(uid, id);
        }
    }
    Ok(())
}
