//! Where tests have their tasks and outputs when `./dev test cluster` runs them: in a database of a real
//! PostgreSQL, and a bucket of a real server of S3's interface.

use std::path::Path;
use std::process::Command;

/// The bucket, if there is one.
pub fn bucket() -> Option<String> {
    std::env::var("ATELIER_TEST_OUTPUTS").ok()
}

/// Of a service with this data: a part of the bucket that is its own, whenever it is started.
pub fn places(data: &Path, args: &[&str]) -> Vec<String> {
    let mut places = Vec::new();
    if let Some(bucket) = bucket().filter(|_| !args.contains(&"--outputs")) {
        places.extend(["--outputs".to_owned(), format!("{bucket}/{}", name(data))]);
    }
    if !args.contains(&"--database") {
        places.extend(database_of(data));
    }
    places
}

/// The option that names the database of a service with this data, if that is in PostgreSQL.
pub fn database_of(data: &Path) -> Vec<String> {
    let option = |address: String| vec!["--database".to_owned(), made(&address, &name(data))];
    database().map(option).unwrap_or_default()
}

/// PostgreSQL's address without a database, if it is there.
pub fn database() -> Option<String> {
    std::env::var("ATELIER_TEST_DATABASE").ok()
}

/// The address of a database, which is made if it is absent.
pub fn made(address: &str, name: &str) -> String {
    let name = name.to_lowercase();
    // It says so if it is there already.
    let made = Command::new("psql")
        .args([
            "--quiet",
            "--command",
            &format!("CREATE DATABASE \"{name}\""),
        ])
        .arg(format!("{address}/postgres"))
        .output()
        .expect("psql");
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(
        made.status.success() || said.contains("already exists"),
        "{said}"
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
        .arg(made(&address, &name(data)))
        .output()
        .expect("psql");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    true
}

/// How many rows a table of a service with this data has, if that is in PostgreSQL. `table` may have a condition.
pub fn count(data: &Path, table: &str) -> Option<u64> {
    let asked = Command::new("psql")
        .args(["--tuples-only", "--no-align", "--command"])
        .arg(format!("SELECT count(*) FROM {table}"))
        .arg(made(&database()?, &name(data)))
        .output()
        .expect("psql");
    Some(
        String::from_utf8_lossy(&asked.stdout)
            .trim()
            .parse()
            .unwrap(),
    )
}

/// Another for each folder.
fn name(data: &Path) -> String {
    let plain = |c: char| match c {
        'a'..='z' | '0'..='9' => c,
        'A'..='Z' => c,
        _ => '_',
    };
    data.to_string_lossy().chars().map(plain).collect()
}
