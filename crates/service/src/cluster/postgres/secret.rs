//! Removes secrets from the inputs of tasks that ended before secrets were stored separately.

use atelier_contract::ModelId;
use sqlx::Row;

use super::Postgres;
use crate::store::{SECRETS_STEP, StoreError, without_fields};

pub fn delete_old_secrets(
    db: &Postgres,
    model: &ModelId,
    names: &[&str],
) -> Result<usize, StoreError> {
    db.wait(async {
        let (mut after, mut count) = (0_i64, 0);
        loop {
            let rows = sqlx::query(
                "SELECT seq, input FROM task WHERE category = $1 AND subcategory = $2
                 AND finished_ms IS NOT NULL AND seq > $3 ORDER BY seq LIMIT $4",
            )
            .bind(&model.category)
            .bind(&model.subcategory)
            .bind(after)
            .bind(SECRETS_STEP as i64)
            .fetch_all(&db.pool)
            .await?;
            let mut transaction = db.pool.begin().await?;
            for row in &rows {
                after = row.get(0);
                let Some(input) = without_fields(row.get(1), names) else {
                    continue;
                };
                sqlx::query("UPDATE task SET input = $2 WHERE seq = $1")
                    .bind(after)
                    .bind(input)
                    .execute(&mut *transaction)
                    .await?;
                count += 1;
            }
            transaction.commit().await?;
            if rows.len() < SECRETS_STEP {
                return Ok(count);
            }
        }
    })
}
