-- The webhook of a task, and its events until they are delivered. Triggers add the events in the transaction that changes the
-- task.
CREATE TABLE webhook (
    task TEXT PRIMARY KEY REFERENCES task (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    on_started BOOLEAN NOT NULL,
    on_completed BOOLEAN NOT NULL
);
CREATE TABLE webhook_event (
    id TEXT PRIMARY KEY DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', ''),
    task TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    event TEXT NOT NULL,
    host TEXT NOT NULL,
    occurred_ms BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    leased_ms BIGINT
);
CREATE INDEX webhook_event_by_due ON webhook_event (host, due_ms);
CREATE INDEX webhook_event_by_age ON webhook_event (occurred_ms);
CREATE INDEX webhook_event_by_task ON webhook_event (task);

CREATE FUNCTION add_started_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_ms BIGINT := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
    INSERT INTO webhook_event (task, event, host, occurred_ms, due_ms)
    SELECT task, 'started', host, now_ms, now_ms FROM webhook WHERE task = NEW.id AND on_started;
    RETURN NULL;
END
$$;
CREATE TRIGGER task_started_webhook AFTER UPDATE OF status ON task FOR EACH ROW
    WHEN (NEW.status = 'processing' AND OLD.status <> 'processing' AND OLD.finished_ms IS NULL)
    EXECUTE FUNCTION add_started_webhook();

-- A task that failed because its outcome was unknown may end a second time. A webhook that receives no end is removed.
CREATE FUNCTION add_completed_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_event (task, event, host, occurred_ms, due_ms)
    SELECT task, 'completed', host, NEW.finished_ms, NEW.finished_ms FROM webhook
    WHERE task = NEW.id AND on_completed;
    DELETE FROM webhook WHERE task = NEW.id AND NOT on_completed
    AND NOT EXISTS (SELECT FROM webhook_event WHERE webhook_event.task = NEW.id);
    RETURN NULL;
END
$$;
CREATE TRIGGER task_completed_webhook AFTER UPDATE OF finished_ms ON task FOR EACH ROW
    WHEN (NEW.finished_ms IS NOT NULL)
    EXECUTE FUNCTION add_completed_webhook();

-- The secret that webhooks are signed with.
CREATE TABLE webhook_secret (
    is_only BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (is_only),
    secret TEXT NOT NULL
);
