//! The storage of tests that `./dev test cluster` runs: a database in a real PostgreSQL, and a bucket on a real server
//! with the S3 API.

use std::path::Path;
use std::process::Command;

/// Returns the bucket, if the tests run with one.
pub fn bucket() -> Option<String> {
    std::env::var("ATELIER_TEST_OUTPUTS").ok()
}

/// Returns the options of a service with this data directory for its own database and its own prefix in the bucket. They
/// are the same at each start.
pub fn storage_options(data: &Path, args: &[&str]) -> Vec<String> {
    let mut options = Vec::new();
    if let Some(bucket) = bucket().filter(|_| !args.contains(&"--outputs")) {
        options.extend(["--outputs".to_owned(), format!("{bucket}/{}", name(data))]);
    }
    if !args.contains(&"--database") {
        options.extend(database_of(data));
    }
    options
}

/// Returns the option for the database of a service with this data directory; empty without PostgreSQL.
pub fn database_of(data: &Path) -> Vec<String> {
    let option = |address: String| {
        vec![
            "--database".to_owned(),
            create_database(&address, &name(data)),
        ]
    };
    database().map(option).unwrap_or_default()
}

/// Returns the address of PostgreSQL without a database, if the tests run with it.
pub fn database() -> Option<String> {
    std::env::var("ATELIER_TEST_DATABASE").ok()
}

/// Creates a database if it is missing, and returns its address.
pub fn create_database(address: &str, name: &str) -> String {
    let name = name.to_lowercase();
    let created = Command::new("psql")
        .args([
            "--quiet",
            "--command",
            &format!("CREATE DATABASE \"{name}\""),
        ])
        .arg(format!("{address}/postgres"))
        .output()
        .expect("psql");
    let error = String::from_utf8_lossy(&created.stderr);
    assert!(
        created.status.success() || error.contains("already exists"),
        "{error}"
    );
    format!("{address}/{name}")
}

/// Runs a statement in the database of a service with this data. Returns whether that is in PostgreSQL.
pub fn execute(data: &Path, statement: &str) -> bool {
    let Some(address) = database() else {
        return false;
    };
    let done = Command::new("psql")
        .args([
            "--quiet",
            "--set",
            "ON_ERROR_STOP=1",
            "--command",
            statement,
        ])
        .arg(create_database(&address, &name(data)))
        .output()
        .expect("psql");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    true
}

/// Returns the number of rows in a table of a service with this data directory; `None` without PostgreSQL. `table` may
/// include a condition.
pub fn count(data: &Path, table: &str) -> Option<u64> {
    let output = Command::new("psql")
        .args(["--tuples-only", "--no-align", "--command"])
        .arg(format!("SELECT count(*) FROM {table}"))
        .arg(create_database(&database()?, &name(data)))
        .output()
        .expect("psql");
    Some(
        String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap(),
    )
}

/// Returns a name that is unique to the folder.
fn name(data: &Path) -> String {
    let plain = |c: char| match c {
        'a'..='z' | '0'..='9' => c,
        'A'..='Z' => c,
        _ => '_',
    };
    data.to_string_lossy().chars().map(plain).collect()
}
