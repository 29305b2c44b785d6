CREATE TABLE task (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    uid TEXT NOT NULL,
    category TEXT NOT NULL,
    subcategory TEXT NOT NULL,
    input TEXT NOT NULL,
    status TEXT NOT NULL,
    output TEXT NOT NULL DEFAULT '[]',
    error TEXT,
    words TEXT,
    created_ms BIGINT NOT NULL,
    sent_ms BIGINT,
    finished_ms BIGINT,
    bytes BIGINT NOT NULL,
    -- Which job of the queue is the task's: a job that is lost is followed by the next one.
    job INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX task_unfinished ON task (uid) WHERE finished_ms IS NULL;
CREATE INDEX task_by_end ON task (finished_ms, seq) WHERE finished_ms IS NOT NULL;

CREATE TABLE submission (
    account TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (account, key)
);
CREATE INDEX submission_by_age ON submission (created_ms);

-- Outputs that an unfinished task is made from.
CREATE TABLE hold (
    held TEXT NOT NULL,
    task TEXT NOT NULL,
    PRIMARY KEY (held, task)
);
CREATE INDEX hold_by_task ON hold (task);

CREATE TABLE usage (uid TEXT PRIMARY KEY, bytes BIGINT NOT NULL);
CREATE FUNCTION task_usage() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE usage SET bytes = bytes - OLD.bytes WHERE uid = OLD.uid;
        RETURN OLD;
    END IF;
    INSERT INTO usage (uid, bytes)
    VALUES (NEW.uid, NEW.bytes - CASE WHEN TG_OP = 'UPDATE' THEN OLD.bytes ELSE 0 END)
    ON CONFLICT (uid) DO UPDATE SET bytes = usage.bytes + excluded.bytes;
    RETURN NEW;
END;
$$;
CREATE TRIGGER task_usage AFTER INSERT OR DELETE OR UPDATE OF bytes ON task
FOR EACH ROW EXECUTE FUNCTION task_usage();

-- The calls that each caller has left, for --rate.
CREATE TABLE allowance (
    name TEXT PRIMARY KEY,
    calls_left DOUBLE PRECISION NOT NULL,
    filled TIMESTAMPTZ NOT NULL
);
CREATE INDEX allowance_by_age ON allowance (filled);
