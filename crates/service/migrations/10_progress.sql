-- The completed fraction of a running task, and the name of its newest preview, as its model has reported them. `words` is
-- the message.
ALTER TABLE task ADD COLUMN progress DOUBLE PRECISION;
ALTER TABLE task ADD COLUMN preview TEXT;
-- The newest previews of running tasks. Unlogged: they are replaced every second, and may be lost.
CREATE UNLOGGED TABLE preview (
    task TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    picture BYTEA NOT NULL
);
