-- The attempts at a task that waits for others of its account: its time limit counts from the first of them,
-- also at another process.
ALTER TABLE turn ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN first_attempt TIMESTAMPTZ;
ALTER TABLE turn ADD COLUMN last_error TEXT;
