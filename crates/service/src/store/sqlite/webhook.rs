//! Webhooks in SQLite.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Sqlite;
use crate::store::webhook::WebhookStore;
use crate::store::{StoreError, after_ms, now_ms};
use crate::webhooks::{Delivery, Event, Webhook};

pub fn insert(connection: &Connection, seq: i64, webhook: &Webhook) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO webhook (seq, url, host, on_started, on_completed) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![
            seq,
            webhook.url,
            webhook.host,
            webhook.events.contains(&Event::Started),
            webhook.events.contains(&Event::Completed),
        ])?;
    Ok(())
}

/// Gives back the events that a killed process has claimed.
pub fn release_all(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE webhook_event SET leased_ms = NULL WHERE leased_ms IS NOT NULL",
        [],
    )?;
    Ok(())
}

impl WebhookStore for Sqlite {
    fn claim_webhook(
        &self,
        busy: &[String],
        lease: Duration,
    ) -> Result<Option<Delivery>, StoreError> {
        let (now, busy) = (now_ms(), serde_json::json!(busy).to_string());
        self.with(|connection| {
            // Nothing is written unless an event is due.
            let due: Option<String> = connection
                .prepare_cached(
                    "WITH RECURSIVE hosts (host) AS (
                         SELECT min(host) FROM webhook_event
                         UNION ALL
                         SELECT (SELECT min(webhook_event.host) FROM webhook_event WHERE webhook_event.host > hosts.host)
                         FROM hosts WHERE hosts.host IS NOT NULL
                     )
                     SELECT due.id FROM hosts CROSS JOIN webhook_event AS due ON due.id = (
                         SELECT id FROM webhook_event
                         WHERE host = hosts.host AND due_ms <= ?1 AND (leased_ms IS NULL OR leased_ms <= ?1)
                         AND EXISTS (SELECT 1 FROM webhook WHERE webhook.seq = webhook_event.seq)
                         ORDER BY due_ms LIMIT 1
                     )
                     WHERE hosts.host NOT IN (SELECT value FROM json_each(?2)) ORDER BY due.due_ms LIMIT 1",
                )?
                .query_row(params![now, busy], |row| row.get(0))
                .optional()?;
            let Some(id) = due else { return Ok(None) };
            connection
                .prepare_cached(
                    "UPDATE webhook_event SET leased_ms = ?2, attempts = attempts + 1 WHERE id = ?1",
                )?
                .execute(params![id, after_ms(now, lease)])?;
            connection
                .prepare_cached(
                    "SELECT webhook_event.id, task.id, event, url, webhook.host, occurred_ms, attempts
                     FROM webhook_event JOIN webhook USING (seq) JOIN task USING (seq)
                     WHERE webhook_event.id = ?1",
                )?
                .query_row([id], read)
                .optional()
        })
    }

    fn retry_webhook(&self, id: &str, attempt: u32, pause: Duration) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE webhook_event SET due_ms = ?3, leased_ms = NULL WHERE id = ?1 AND attempts = ?2",
                )?
                .execute(params![id, attempt, after_ms(now_ms(), pause)])
        })?;
        Ok(())
    }

    fn release_webhook(&self, id: &str, attempt: u32) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "UPDATE webhook_event SET leased_ms = NULL WHERE id = ?1 AND attempts = ?2",
                )?
                .execute(params![id, attempt])
        })?;
        Ok(())
    }

    fn remove_webhook(&self, delivery: &Delivery) -> Result<(), StoreError> {
        self.with(|connection| {
            let transaction = connection.unchecked_transaction()?;
            transaction
                .prepare_cached("DELETE FROM webhook_event WHERE id = ?1")?
                .execute([&delivery.id])?;
            transaction
                .prepare_cached(
                    "DELETE FROM webhook
                     WHERE seq = (SELECT seq FROM task WHERE id = ?1 AND finished_ms IS NOT NULL)
                     AND NOT EXISTS (SELECT 1 FROM webhook_event WHERE webhook_event.seq = webhook.seq)",
                )?
                .execute([&delivery.task])?;
            transaction.commit()
        })
    }

    fn expire_webhooks(&self, oldest_ms: i64) -> Result<u64, StoreError> {
        let now = now_ms();
        let expired = self.with(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let expired = transaction
                .prepare_cached(
                    "DELETE FROM webhook_event
                     WHERE occurred_ms < ?1 AND (leased_ms IS NULL OR leased_ms <= ?2)",
                )?
                .execute([oldest_ms, now])?;
            transaction
                .prepare_cached(
                    "DELETE FROM webhook
                     WHERE EXISTS (SELECT 1 FROM task WHERE task.seq = webhook.seq AND finished_ms < ?1)
                     AND NOT EXISTS (SELECT 1 FROM webhook_event WHERE webhook_event.seq = webhook.seq)",
                )?
                .execute([oldest_ms])?;
            transaction.commit()?;
            Ok(expired)
        })?;
        Ok(expired as u64)
    }

    fn webhooks_waiting(&self) -> Result<u64, StoreError> {
        let count: i64 = self.with(|connection| {
            connection
                .prepare_cached("SELECT count(*) FROM webhook_event")?
                .query_row([], |row| row.get(0))
        })?;
        Ok(count.max(0).unsigned_abs())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let event: String = row.get(2)?;
    Ok(Delivery {
        id: row.get(0)?,
        task: row.get(1)?,
        event: Event::of_name(&event).unwrap_or(Event::Completed),
        url: row.get(3)?,
        host: row.get(4)?,
        occurred_ms: row.get(5)?,
        attempt: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use atelier_contract::{ModelId, StatusWord};
    use serde_json::Map;

    use super::*;
    use crate::secrets::Secrets;
    use crate::store::{EndPosition, Failed, Store, Task};

    const LEASE: Duration = Duration::from_secs(60);
    const HOST: &str = "https://a.example:443";

    fn open(dir: &tempfile::TempDir) -> Sqlite {
        Sqlite::open(&dir.path().join("tasks.sqlite")).unwrap()
    }

    fn insert(store: &Sqlite, id: &str, events: &[Event]) {
        let task = Task {
            id: id.into(),
            uid: "me".into(),
            model: ModelId::new("image", "strata"),
            input: Map::new(),
            secrets: Secrets::default(),
            status: StatusWord::Queued,
            webhook: Some(Webhook {
                url: format!("https://a.example/{id}"),
                host: HOST.into(),
                events: events.to_vec(),
            }),
        };
        store.insert(&task, None).unwrap();
    }

    fn claim(store: &Sqlite, lease: Duration) -> Option<Delivery> {
        store.claim_webhook(&[], lease).unwrap()
    }

    fn count(store: &Sqlite, table: &str) -> i64 {
        let statement = format!("SELECT count(*) FROM {table}");
        store
            .with(|connection| connection.query_row(&statement, [], |row| row.get(0)))
            .unwrap()
    }

    #[test]
    fn an_event_is_claimed_by_one_attempt_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        insert(&store, "a", &[Event::Completed]);
        store.set_processing("a").unwrap();
        assert!(claim(&store, LEASE).is_none(), "the task has not ended");
        store.fail("a", "no", Failed::Permanent).unwrap();
        assert!(
            store
                .claim_webhook(&[HOST.into()], LEASE)
                .unwrap()
                .is_none()
        );
        let first = claim(&store, Duration::ZERO).unwrap();
        assert_eq!((first.task.as_str(), first.attempt), ("a", 1));
        assert!(first.event == Event::Completed && first.url == "https://a.example/a");
        // The lease has expired.
        let second = claim(&store, LEASE).unwrap();
        assert_eq!((&second.id, second.attempt), (&first.id, 2));
        assert!(claim(&store, LEASE).is_none());
        // The first attempt can't give back what the second one has claimed.
        store.retry_webhook(&first.id, 1, Duration::ZERO).unwrap();
        store.release_webhook(&first.id, 1).unwrap();
        assert!(claim(&store, LEASE).is_none());
        store.release_webhook(&first.id, 2).unwrap();
        assert_eq!(claim(&store, LEASE).unwrap().attempt, 3);
        store.retry_webhook(&first.id, 3, LEASE).unwrap();
        assert!(claim(&store, LEASE).is_none(), "the pause has not ended");
        store.retry_webhook(&first.id, 3, Duration::ZERO).unwrap();
        assert_eq!(claim(&store, LEASE).unwrap().attempt, 4);
        drop(store);
        let store = open(&dir);
        assert_eq!(
            claim(&store, LEASE).unwrap().attempt,
            5,
            "the process was killed"
        );
    }

    /// Guards against an attempt of a stopped process that ends the lease of the process that has claimed the event since.
    #[test]
    fn a_released_attempt_can_not_end_a_later_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        insert(&store, "a", &[Event::Completed]);
        store.fail("a", "no", Failed::Permanent).unwrap();
        let first = claim(&store, LEASE).unwrap();
        store.release_webhook(&first.id, first.attempt).unwrap();
        let second = claim(&store, LEASE).unwrap();
        assert_eq!(second.id, first.id);
        store
            .retry_webhook(&first.id, first.attempt, Duration::ZERO)
            .unwrap();
        assert!(claim(&store, LEASE).is_none(), "the lease has ended");
    }

    /// Guards against an event that is claimed before all others, although it can't be sent.
    #[test]
    fn an_event_without_its_webhook_is_not_claimed() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        for id in ["lost", "other"] {
            insert(&store, id, &[Event::Completed]);
            store.fail(id, "no", Failed::Permanent).unwrap();
        }
        store
            .with(|connection| {
                connection.execute(
                    "DELETE FROM webhook WHERE seq = (SELECT seq FROM task WHERE id = 'lost')",
                    [],
                )
            })
            .unwrap();
        assert_eq!(claim(&store, LEASE).unwrap().task, "other");
        assert!(claim(&store, LEASE).is_none());
    }

    /// Guards against a host with a backlog that comes before the first event of another host.
    #[test]
    fn the_first_due_event_of_each_host_is_claimed_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        let hosts = ["b", "b", "b", "a", "c"];
        for (index, host) in hosts.iter().enumerate() {
            let id = index.to_string();
            insert(&store, &id, &[Event::Completed]);
            store
                .with(|connection| {
                    connection.execute(
                        "UPDATE webhook SET host = ?1 WHERE seq = (SELECT seq FROM task WHERE id = ?2)",
                        [host, &id.as_str()],
                    )
                })
                .unwrap();
            store.fail(&id, "no", Failed::Permanent).unwrap();
            store
                .with(|connection| {
                    connection.execute(
                        "UPDATE webhook_event SET due_ms = ?1 WHERE seq = (SELECT seq FROM task WHERE id = ?2)",
                        params![i64::try_from(index).unwrap(), id],
                    )
                })
                .unwrap();
        }
        let task = |busy: &[String]| {
            let claimed = store.claim_webhook(busy, LEASE).unwrap();
            claimed.map(|delivery| delivery.task)
        };
        let busy = ["b".to_owned()];
        assert_eq!(task(&[]).as_deref(), Some("0"));
        assert_eq!(task(&busy).as_deref(), Some("3"));
        assert_eq!(task(&[]).as_deref(), Some("1"));
        assert_eq!(task(&busy).as_deref(), Some("4"));
        assert_eq!(task(&busy), None);
        assert_eq!(task(&[]).as_deref(), Some("2"));
        assert_eq!(task(&[]), None);
    }

    /// Guards against events and URLs that stay in the database because nothing delivers them.
    #[test]
    fn events_and_webhooks_of_ended_tasks_expire() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        for id in ["ended", "running"] {
            insert(&store, id, &Event::ALL);
            store.set_processing(id).unwrap();
        }
        store.complete("ended", &[], 0).unwrap();
        // The process that has claimed an event counts it.
        let claimed = claim(&store, LEASE).unwrap();
        assert_eq!(store.expire_webhooks(now_ms() + 60_000).unwrap(), 2);
        store.release_webhook(&claimed.id, 1).unwrap();
        assert_eq!(store.expire_webhooks(now_ms() - 60_000).unwrap(), 0);
        assert_eq!(store.webhooks_waiting().unwrap(), 1);
        assert_eq!(store.expire_webhooks(now_ms() + 60_000).unwrap(), 1);
        assert_eq!(store.webhooks_waiting().unwrap(), 0);
        assert_eq!(count(&store, "webhook"), 1, "a task has not ended");
        store.complete("running", &[], 0).unwrap();
        assert_eq!(store.webhooks_waiting().unwrap(), 1);
    }

    /// Guards against the URL of a task whose webhook receives only its start.
    #[test]
    fn a_webhook_without_the_end_is_removed_with_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        for id in ["delivered", "waiting", "canceled"] {
            insert(&store, id, &[Event::Started]);
        }
        store.set_processing("delivered").unwrap();
        store
            .remove_webhook(&claim(&store, LEASE).unwrap())
            .unwrap();
        store.complete("delivered", &[], 0).unwrap();
        assert_eq!(count(&store, "webhook"), 2);
        store.cancel("canceled").unwrap();
        assert_eq!(count(&store, "webhook"), 1);
        store.set_processing("waiting").unwrap();
        store.complete("waiting", &[], 0).unwrap();
        assert_eq!(count(&store, "webhook"), 1, "the start is not delivered");
        store
            .remove_webhook(&claim(&store, LEASE).unwrap())
            .unwrap();
        assert_eq!(count(&store, "webhook"), 0);
    }

    #[test]
    fn events_and_webhooks_are_removed_after_the_last_event_or_with_their_task() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        insert(&store, "a", &Event::ALL);
        store.set_processing("a").unwrap();
        // Another attempt at the task is no other start.
        store.set_processing("a").unwrap();
        let started = claim(&store, LEASE).unwrap();
        assert!(started.event == Event::Started && claim(&store, LEASE).is_none());
        store.remove_webhook(&started).unwrap();
        assert_eq!(count(&store, "webhook"), 1, "the task has not ended");
        store.complete("a", &[], 0).unwrap();
        assert_eq!(store.webhooks_waiting().unwrap(), 1);
        store
            .remove_webhook(&claim(&store, LEASE).unwrap())
            .unwrap();
        assert_eq!(
            (count(&store, "webhook"), store.webhooks_waiting().unwrap()),
            (0, 0)
        );

        insert(&store, "b", &Event::ALL);
        store.set_processing("b").unwrap();
        store.cancel("b").unwrap();
        assert_eq!(store.webhooks_waiting().unwrap(), 2);
        let ended = store
            .ended_after(EndPosition::default(), i64::MAX, 9)
            .unwrap();
        store.remove(&ended).unwrap();
        assert_eq!(
            (count(&store, "webhook"), store.webhooks_waiting().unwrap()),
            (0, 0)
        );
    }
}
