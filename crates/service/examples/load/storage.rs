//! The storage of a service: SQLite in a folder, or PostgreSQL.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::Outcome;

/// A folder for the outputs, with the tasks in the same folder or in a database.
pub struct Storage {
    folder: TempDir,
    /// The address of the PostgreSQL database, if the tasks are in one.
    database: Option<String>,
}

impl Storage {
    /// Creates a temporary folder for SQLite.
    ///
    /// # Errors
    ///
    /// The folder can't be created.
    pub fn embedded() -> Outcome<Self> {
        Ok(Self {
            folder: tempfile::tempdir()?,
            database: None,
        })
    }

    /// Creates a database on the server at this address. Drops an existing one.
    ///
    /// # Errors
    ///
    /// `psql` fails, or the folder for the outputs can't be created.
    pub fn in_postgres(server: &str, name: &str) -> Outcome<Self> {
        let (admin, database) = (format!("{server}/postgres"), format!("{server}/{name}"));
        psql(&admin, &format!("DROP DATABASE IF EXISTS {name}"))?;
        psql(&admin, &format!("CREATE DATABASE {name}"))?;
        Ok(Self {
            folder: tempfile::tempdir()?,
            database: Some(database),
        })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    pub fn outputs(&self) -> PathBuf {
        self.folder().join("outputs")
    }

    /// Inserts completed tasks of a thousand users, with the same rows as the service writes. The service must have
    /// created the tables before.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    pub fn fill(&self, count: u64) -> Outcome<()> {
        const FIELDS: &str =
            "id, uid, category, subcategory, status, output, created_ms, finished_ms, bytes";
        const VALUES: &str = "'task-' || n, 'user-' || (n % 1000), 'image', 'strata', 'completed',
            '[\"task-' || n || '/0.png\"]', n, n, 1000";
        const INPUT: &str = r#"{"prompt":"a lighthouse at dusk","seed":1}"#;
        if let Some(database) = &self.database {
            let fill = format!(
                "INSERT INTO task ({FIELDS}, input)
                 SELECT {VALUES}, '{INPUT}' FROM generate_series(0, {count} - 1) AS n"
            );
            psql(database, &fill)?;
            psql(database, "VACUUM ANALYZE")?;
            return Ok(());
        }
        let database = Connection::open(self.folder().join("tasks.sqlite"))?;
        database.execute_batch(&format!(
            "WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < {count})
             INSERT INTO task ({FIELDS}) SELECT {VALUES} FROM number;
             INSERT INTO input SELECT seq, '{INPUT}' FROM task"
        ))?;
        Ok(())
    }

    /// Returns the number of ended tasks, except those of [`Self::fill`].
    ///
    /// # Errors
    ///
    /// The database, or the folder of the outputs, can't be read.
    pub fn count_finished(&self) -> Outcome<usize> {
        if let Some(database) = &self.database {
            let count = "SELECT count(*) FROM task WHERE finished_ms > 1000000000000";
            return Ok(psql(database, count)?.trim().parse()?);
        }
        // The service locks its SQLite database. Each ended task has an output folder, which appears when it is complete.
        let folders = fs::read_dir(self.outputs())?.collect::<Result<Vec<_>, _>>()?;
        let is_complete =
            |folder: &DirEntry| !folder.file_name().to_string_lossy().starts_with('.');
        Ok(folders.iter().filter(|folder| is_complete(folder)).count())
    }
}

fn psql(database: &str, statement: &str) -> Outcome<String> {
    let ran = Command::new("psql")
        .args(["--quiet", "--tuples-only", "--no-align", "--command"])
        .args([statement, database])
        .output()?;
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&ran.stderr).into());
    }
    Ok(String::from_utf8(ran.stdout)?)
}
