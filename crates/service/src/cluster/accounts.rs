//! Accounts in PostgreSQL, for any number of processes.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use sqlx::Row;

use super::postgres::Postgres;
use crate::accounts::{Account, AccountError, AccountStore};
use crate::store::{StoreError, now_ms};

/// How long a process caches that there are no accounts, in milliseconds. Without the cache, each call would query the
/// database.
const FRESH: i64 = 1_000;

/// PostgreSQL's error code for a missing table (`undefined_table`).
const NO_TABLE: &str = "42P01";

/// The accounts in PostgreSQL.
pub struct PostgresAccounts {
    database: Postgres,
    /// Whether accounts exist or existed.
    has_existed: AtomicBool,
    /// When a query last found no accounts, in milliseconds since 1970.
    checked_ms: AtomicI64,
}

impl PostgresAccounts {
    pub fn new(database: Postgres) -> Self {
        Self {
            database,
            has_existed: AtomicBool::new(false),
            checked_ms: AtomicI64::new(0),
        }
    }
}

impl AccountStore for PostgresAccounts {
    fn has_accounts_cached(&self) -> Option<bool> {
        let is_fresh = || (now_ms() - self.checked_ms.load(Ordering::Relaxed)).abs() < FRESH;
        match self.has_existed.load(Ordering::Relaxed) {
            true => Some(true),
            false => is_fresh().then_some(false),
        }
    }

    fn has_accounts(&self) -> Result<bool, AccountError> {
        if let Some(has_accounts) = self.has_accounts_cached() {
            return Ok(has_accounts);
        }
        let now = now_ms();
        let begun = self.database.wait(
            sqlx::query_scalar("SELECT EXISTS (SELECT FROM account_begun)")
                .fetch_one(self.database.pool()),
        );
        match begun {
            Ok(true) => {
                self.has_existed.store(true, Ordering::Relaxed);
                Ok(true)
            }
            Ok(false) => {
                self.checked_ms.store(now, Ordering::Relaxed);
                Ok(false)
            }
            // Happens only in commands that create no tables. A service creates its tables when it starts.
            Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(NO_TABLE) => {
                Ok(false)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn insert(&self, name: &str, digest: &str) -> Result<bool, AccountError> {
        self.database.wait(async {
            let mut transaction = self.database.pool().begin().await.map_err(failed)?;
            let added = sqlx::query(
                "INSERT INTO account (name, token) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
            )
            .bind(name)
            .bind(digest)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
            sqlx::query("INSERT INTO account_begun DEFAULT VALUES ON CONFLICT DO NOTHING")
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
            transaction.commit().await.map_err(failed)?;
            Ok(added.rows_affected() > 0)
        })
    }

    fn update(&self, name: &str, digest: &str) -> Result<bool, AccountError> {
        let change = sqlx::query("UPDATE account SET token = $2 WHERE name = $1")
            .bind(name)
            .bind(digest)
            .execute(self.database.pool());
        let changed = if_exists(self.database.wait(change))?;
        Ok(changed.is_some_and(|changed| changed.rows_affected() > 0))
    }

    fn delete(&self, name: &str) -> Result<bool, AccountError> {
        let change = sqlx::query("DELETE FROM account WHERE name = $1")
            .bind(name)
            .execute(self.database.pool());
        let changed = if_exists(self.database.wait(change))?;
        Ok(changed.is_some_and(|changed| changed.rows_affected() > 0))
    }

    fn list(&self) -> Result<Vec<Account>, AccountError> {
        let listed = sqlx::query(
            "SELECT name, to_char(created AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
             FROM account ORDER BY name",
        )
        .fetch_all(self.database.pool());
        let rows = if_exists(self.database.wait(listed))?.unwrap_or_default();
        let account = |row: &sqlx::postgres::PgRow| Account {
            name: row.get(0),
            created: row.get(1),
        };
        Ok(rows.iter().map(account).collect())
    }

    fn find_by_digest(&self, digest: &str) -> Result<Option<String>, AccountError> {
        let found = sqlx::query_scalar("SELECT name FROM account WHERE token = $1")
            .bind(digest)
            .fetch_optional(self.database.pool());
        Ok(if_exists(self.database.wait(found))?.flatten())
    }
}

/// Returns `None` if the tables are missing. Then there are no accounts: adding the first one creates the tables.
fn if_exists<T>(done: Result<T, sqlx::Error>) -> Result<Option<T>, AccountError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some(NO_TABLE) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn failed(error: sqlx::Error) -> AccountError {
    StoreError::from(error).into()
}
