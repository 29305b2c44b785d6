//! Where the tasks of a service are: in the SQLite of a folder, or in a PostgreSQL.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::Outcome;

/// A folder for the outputs, and the tasks in it or in a database.
pub struct Place {
    folder: TempDir,
    /// The address of a database of its own.
    database: Option<String>,
}

impl Place {
    /// In SQLite, in a folder of its own.
    ///
    /// # Errors
    ///
    /// There can't be a folder for it.
    pub fn embedded() -> Outcome<Self> {
        Ok(Self {
            folder: tempfile::tempdir()?,
            database: None,
        })
    }

    /// In a new database of the server at this address.
    ///
    /// # Errors
    ///
    /// `psql` fails, or there can't be a folder for the outputs.
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

    /// Fills it with completed tasks of a thousand users, as the service itself would have left them. The service
    /// has made the tables before.
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

    /// How many tasks have ended that were not stored from the beginning.
    ///
    /// # Errors
    ///
    /// The database, or the folder of the outputs, can't be read.
    pub fn finished(&self) -> Outcome<usize> {
        if let Some(database) = &self.database {
            let count = "SELECT count(*) FROM task WHERE finished_ms > 1000000000000";
            return Ok(psql(database, count)?.trim().parse()?);
        }
        // The service has its SQLite to itself. Each task has a folder, which appears when it is whole.
        let folders = fs::read_dir(self.outputs())?.collect::<Result<Vec<_>, _>>()?;
        let is_whole = |folder: &DirEntry| !folder.file_name().to_string_lossy().starts_with('.');
        Ok(folders.iter().filter(|folder| is_whole(folder)).count())
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
