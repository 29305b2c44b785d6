-- Tells all processes which task has changed. The payload of a notification is limited to 8000 bytes.
CREATE FUNCTION announce_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF octet_length(NEW.uid) < 7000 THEN
        PERFORM pg_notify('atelier_task', NEW.id || ' ' || NEW.uid);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER task_announced
    AFTER INSERT OR UPDATE OF status, finished_ms, words, progress, preview ON task
    FOR EACH ROW EXECUTE FUNCTION announce_task();
