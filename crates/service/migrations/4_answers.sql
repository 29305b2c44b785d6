-- The answers to tasks that were sent, until these have ended: another process continues from them.
CREATE TABLE answer (
    task TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    answer BYTEA NOT NULL
);
