//! The tables of the queue's library that the service's own statements use.

use std::process::Command;

use super::Cluster;

/// Guards against another version of apalis-postgres with other tables: the statements in
/// `src/cluster/postgres/queue_tables.rs` were written for these.
#[test]
#[ignore = "needs PostgreSQL: ./dev test cluster"]
fn queue_tables_match_the_statements() {
    let cluster = Cluster::new();
    let _service = cluster.serve("one", &[]);
    let query = |statement: &str| {
        let output = Command::new("psql")
            .args(["--tuples-only", "--no-align", "--command", statement])
            .arg(&cluster.database)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let columns = query(
        "SELECT table_name || '.' || column_name || ' ' || udt_name \
         FROM information_schema.columns \
         WHERE table_schema = 'apalis' AND table_name IN ('jobs', 'workers') ORDER BY table_name, column_name",
    );
    assert_eq!(columns, COLUMNS.trim());
    let trigger = query(
        "SELECT prosrc FROM pg_proc \
         WHERE proname = 'notify_new_jobs' AND pronamespace = 'apalis'::regnamespace",
    );
    let words: Vec<&str> = trigger.split_whitespace().collect();
    assert_eq!(words.join(" "), TRIGGER);
    // Other changes, such as renamed states of jobs, would come with a migration.
    let newest = query("SELECT max(version) FROM apalis._sqlx_migrations");
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

/// The service's statement notifies workers of released jobs in the same way. Workers read the first two fields.
const TRIGGER: &str = "BEGIN IF NEW.run_at <= now() THEN \
    PERFORM pg_notify( 'apalis::job::insert', \
    json_build_object( 'job_type', NEW.job_type, 'id', NEW.id, 'run_at', NEW.run_at )::text ); \
    END IF; RETURN NEW; END;";
