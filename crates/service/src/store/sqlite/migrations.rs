//! The tables of a SQLite database.

/// The migrations, one for each schema version; a database runs those it lacks.
pub const MIGRATIONS: [&str; 10] = [
    "CREATE TABLE task (
         seq INTEGER PRIMARY KEY,
         id TEXT NOT NULL UNIQUE,
         uid TEXT NOT NULL,
         category TEXT NOT NULL,
         subcategory TEXT NOT NULL,
         input TEXT NOT NULL,
         status TEXT NOT NULL,
         output TEXT NOT NULL DEFAULT '[]',
         error TEXT,
         created_ms INTEGER NOT NULL,
         finished_ms INTEGER
     );
     CREATE INDEX task_unfinished ON task (seq) WHERE finished_ms IS NULL;
     CREATE INDEX task_by_uid ON task (uid, seq);",
    "CREATE TABLE submission (
         account TEXT NOT NULL,
         key TEXT NOT NULL,
         fingerprint TEXT NOT NULL,
         id TEXT NOT NULL,
         status TEXT NOT NULL,
         created_ms INTEGER NOT NULL,
         PRIMARY KEY (account, key)
     ) WITHOUT ROWID;
     CREATE INDEX submission_by_age ON submission (created_ms);",
    // An input may be large and is read once; the rest of a row is read at every poll.
    "CREATE TABLE input (seq INTEGER PRIMARY KEY, input TEXT NOT NULL);
     INSERT INTO input SELECT seq, input FROM task;
     ALTER TABLE task DROP COLUMN input;",
    // Some servers run and charge a task twice if it is sent twice, so record what was sent.
    "ALTER TABLE task ADD COLUMN sent_ms INTEGER;
     CREATE INDEX task_by_end ON task (finished_ms) WHERE finished_ms IS NOT NULL;",
    // Triggers update `usage` at every change of a task.
    "ALTER TABLE task ADD COLUMN bytes INTEGER;
     CREATE INDEX task_unmeasured ON task (seq) WHERE bytes IS NULL AND finished_ms IS NOT NULL;
     CREATE TABLE usage (uid TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
     CREATE TRIGGER task_added AFTER INSERT ON task WHEN NEW.bytes IS NOT NULL BEGIN
         INSERT INTO usage (uid, bytes) VALUES (NEW.uid, NEW.bytes)
         ON CONFLICT (uid) DO UPDATE SET bytes = bytes + excluded.bytes;
     END;
     CREATE TRIGGER task_measured AFTER UPDATE OF bytes ON task
     WHEN NEW.bytes IS NOT OLD.bytes BEGIN
         INSERT INTO usage (uid, bytes) VALUES (NEW.uid, NEW.bytes - coalesce(OLD.bytes, 0))
         ON CONFLICT (uid) DO UPDATE SET bytes = bytes + excluded.bytes;
     END;
     CREATE TRIGGER task_removed AFTER DELETE ON task WHEN OLD.bytes IS NOT NULL BEGIN
         UPDATE usage SET bytes = bytes - OLD.bytes WHERE uid = OLD.uid;
         DELETE FROM usage WHERE uid = OLD.uid AND bytes <= 0;
     END;",
    // A paid response outlives the process until its files are saved.
    "CREATE TABLE answer (seq INTEGER PRIMARY KEY, answer BLOB NOT NULL);
     CREATE TRIGGER task_answered AFTER UPDATE OF finished_ms ON task
     WHEN NEW.finished_ms IS NOT NULL BEGIN
         DELETE FROM answer WHERE seq = NEW.seq;
     END;",
    // A trigger as for `answer`: the end of a task deletes its secrets.
    "CREATE TABLE secret (seq INTEGER PRIMARY KEY, secret TEXT NOT NULL);
     CREATE TRIGGER task_without_secrets AFTER UPDATE OF finished_ms ON task
     WHEN NEW.finished_ms IS NOT NULL BEGIN
         DELETE FROM secret WHERE seq = NEW.seq;
     END;",
    // An upload is kept until it has expired and all tasks that use it are removed.
    "CREATE TABLE upload (
         id TEXT PRIMARY KEY,
         owner TEXT NOT NULL,
         sha256 TEXT NOT NULL,
         name TEXT NOT NULL,
         type TEXT NOT NULL,
         bytes INTEGER NOT NULL,
         width INTEGER,
         height INTEGER,
         expires_ms INTEGER NOT NULL,
         UNIQUE (owner, sha256)
     ) WITHOUT ROWID;
     CREATE INDEX upload_by_expiry ON upload (expires_ms);
     CREATE TABLE upload_use (
         upload TEXT NOT NULL,
         seq INTEGER NOT NULL,
         PRIMARY KEY (upload, seq)
     ) WITHOUT ROWID;
     CREATE INDEX upload_use_by_task ON upload_use (seq);
     CREATE TRIGGER task_without_uploads AFTER DELETE ON task BEGIN
         DELETE FROM upload_use WHERE seq = OLD.seq;
     END;
     CREATE TRIGGER upload_added AFTER INSERT ON upload BEGIN
         INSERT INTO usage (uid, bytes) VALUES (NEW.owner, NEW.bytes)
         ON CONFLICT (uid) DO UPDATE SET bytes = bytes + excluded.bytes;
     END;
     CREATE TRIGGER upload_removed AFTER DELETE ON upload BEGIN
         UPDATE usage SET bytes = bytes - OLD.bytes WHERE uid = OLD.owner;
         DELETE FROM usage WHERE uid = OLD.owner AND bytes <= 0;
     END;",
    // 1: canceled, and the model may still run the task; 2: canceled and stopped.
    "ALTER TABLE task ADD COLUMN canceled INTEGER NOT NULL DEFAULT 0;
     CREATE INDEX task_stopping ON task (seq) WHERE canceled = 1;",
    // The webhook of a task, and its events until they are delivered. Triggers add the events in the transaction that
    // changes the task. A webhook that receives no end is removed when the task ends.
    "CREATE TABLE webhook (
         seq INTEGER PRIMARY KEY,
         url TEXT NOT NULL,
         host TEXT NOT NULL,
         on_started INTEGER NOT NULL,
         on_completed INTEGER NOT NULL
     );
     CREATE TABLE webhook_event (
         id TEXT PRIMARY KEY,
         seq INTEGER NOT NULL,
         event TEXT NOT NULL,
         host TEXT NOT NULL,
         occurred_ms INTEGER NOT NULL,
         due_ms INTEGER NOT NULL,
         attempts INTEGER NOT NULL DEFAULT 0,
         leased_ms INTEGER
     ) WITHOUT ROWID;
     CREATE INDEX webhook_event_by_due ON webhook_event (host, due_ms);
     CREATE INDEX webhook_event_by_age ON webhook_event (occurred_ms);
     CREATE INDEX webhook_event_by_task ON webhook_event (seq);
     CREATE TRIGGER task_started_webhook AFTER UPDATE OF status ON task
     WHEN NEW.status = 'processing' AND OLD.status <> 'processing' AND OLD.finished_ms IS NULL BEGIN
         INSERT INTO webhook_event (id, seq, event, host, occurred_ms, due_ms)
         SELECT 'msg_' || lower(hex(randomblob(16))), seq, 'started', host, now_ms, now_ms
         FROM webhook, (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now_ms)
         WHERE seq = NEW.seq AND on_started;
     END;
     CREATE TRIGGER task_completed_webhook AFTER UPDATE OF finished_ms ON task
     WHEN NEW.finished_ms IS NOT NULL BEGIN
         INSERT INTO webhook_event (id, seq, event, host, occurred_ms, due_ms)
         SELECT 'msg_' || lower(hex(randomblob(16))), seq, 'completed', host, NEW.finished_ms, NEW.finished_ms
         FROM webhook WHERE seq = NEW.seq AND on_completed;
         DELETE FROM webhook WHERE seq = NEW.seq AND NOT on_completed
         AND NOT EXISTS (SELECT 1 FROM webhook_event WHERE webhook_event.seq = NEW.seq);
     END;
     CREATE TRIGGER task_without_webhook AFTER DELETE ON task BEGIN
         DELETE FROM webhook_event WHERE seq = OLD.seq;
         DELETE FROM webhook WHERE seq = OLD.seq;
     END;",
];
