-- Tells all processes which task has changed. The limit is that of MAX_UID in changes.rs.
CREATE FUNCTION announce_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF octet_length(NEW.uid) < 1000 THEN
        PERFORM pg_notify('atelier_task', NEW.id || ' ' || NEW.uid);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER task_announced
    AFTER INSERT OR UPDATE OF status, finished_ms, words, progress, preview ON task
    FOR EACH ROW EXECUTE FUNCTION announce_task();
