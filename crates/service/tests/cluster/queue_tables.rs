//! The tables of the queue's library, on which the service has statements of its own.

use std::process::Command;

use super::Place;

/// Guards against another version of apalis-postgres with tables for which the statements in
/// `src/cluster/postgres/queue_tables.rs` were not written.
#[test]
#[ignore = "needs PostgreSQL: ./dev test cluster"]
fn tables_of_the_queue_are_those_that_the_statements_were_written_for() {
    let place = Place::new();
    let _service = place.serve("one", &[]);
    let ask = |statement: &str| {
        let asked = Command::new("psql")
            .args(["--tuples-only", "--no-align", "--command", statement])
            .arg(&place.database)
            .output()
            .unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    };
    let columns = ask(
        "SELECT table_name || '.' || column_name || ' ' || udt_name \
         FROM information_schema.columns \
         WHERE table_schema = 'apalis' AND table_name IN ('jobs', 'workers') ORDER BY table_name, column_name",
    );
    assert_eq!(columns, COLUMNS.trim());
    let trigger = ask("SELECT prosrc FROM pg_proc \
         WHERE proname = 'notify_new_jobs' AND pronamespace = 'apalis'::regnamespace");
    let words: Vec<&str> = trigger.split_whitespace().collect();
    assert_eq!(words.join(" "), TRIGGER);
    // Any other change, such as of the words for a job's states, is in a migration.
    let newest = ask("SELECT max(version) FROM apalis._sqlx_migrations");
    assert_eq!(newest, "20260902075949");
}

const COLUMNS: &str = "
jobs.attempts int4
jobs.done_at timestamptz
jobs.id text
jobs.idempotency_key text
jobs.job bytea
jobs.job_type text
jobs.last_result jsonb
jobs.lock_at timestamptz
jobs.lock_by text
jobs.max_attempts int4
jobs.metadata hstore
jobs.priority int4
jobs.run_at timestamptz
jobs.status text
workers.id text
workers.last_seen timestamptz
workers.layers text
workers.started_at timestamptz
workers.storage_name text
workers.worker_type text
";

/// A job that is given back is announced likewise: workers read the first two.
const TRIGGER: &str = "BEGIN IF NEW.run_at <= now() THEN \
    PERFORM pg_notify( 'apalis::job::insert', \
    json_build_object( 'job_type', NEW.job_type, 'id', NEW.id, 'run_at', NEW.run_at )::text ); \
    END IF; RETURN NEW; END;";
