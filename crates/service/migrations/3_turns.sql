-- Tasks of accounts that may have so many running at once, while `--account-running` is given: those that
-- a process works on, and those, with none, that wait until their account may have another.
CREATE TABLE turn (
    task TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    uid TEXT NOT NULL,
    process TEXT,
    since TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE INDEX turn_by_uid ON turn (uid);
