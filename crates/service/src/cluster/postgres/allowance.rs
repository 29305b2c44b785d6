//! The token buckets of `--rate`, shared by all processes.

use super::Postgres;
use crate::limit::SharedRateLimiter;
use crate::store::StoreError;

impl SharedRateLimiter for Postgres {
    fn take(&self, names: &[String], rate: f64, burst: f64) -> Result<f64, StoreError> {
        let mut names = names.to_vec();
        // Sorted, so that two transactions can't deadlock.
        names.sort();
        self.wait(async {
            let mut transaction = self.pool.begin().await?;
            let mut missing: f64 = 0.0;
            for name in &names {
                let left: f64 = sqlx::query_scalar(
                    "INSERT INTO allowance VALUES ($1, $3 - 1, clock_timestamp())
                     ON CONFLICT (name) DO UPDATE SET filled = clock_timestamp(),
                     calls_left = least($3, allowance.calls_left + $2 * greatest(0, extract(epoch FROM
                         clock_timestamp() - allowance.filled)::float8)) - 1
                     RETURNING calls_left",
                )
                .bind(name)
                .bind(rate)
                .bind(burst)
                .fetch_one(&mut *transaction)
                .await?;
                missing = missing.max(-left);
            }
            if missing <= 0.0 {
                transaction.commit().await?;
            }
            Ok(missing)
        })
    }

    fn charge(&self, names: &[String], calls: f64) -> Result<(), StoreError> {
        let mut names = names.to_vec();
        names.sort();
        self.wait(async {
            for name in &names {
                sqlx::query("UPDATE allowance SET calls_left = calls_left - $2 WHERE name = $1")
                    .bind(name)
                    .bind(calls)
                    .execute(&self.pool)
                    .await?;
            }
            Ok(())
        })
    }
}
