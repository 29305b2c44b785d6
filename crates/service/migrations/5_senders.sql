-- Which process has sent the task to where its model runs, and whether a failed task completes all the same
-- when a result comes.
ALTER TABLE task ADD COLUMN sent_by TEXT;
ALTER TABLE task ADD COLUMN awaits_result BOOLEAN NOT NULL DEFAULT FALSE;
