-- The values of secret parameters, until the task has ended.
CREATE TABLE secret (
    task TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    secret TEXT NOT NULL
);
