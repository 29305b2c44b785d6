-- New tasks are announced by the process that accepts them, many at a time: transactions with notifications commit one after
-- the other. The trigger stays, because dropping it would wait for all readers of the table.
CREATE OR REPLACE FUNCTION announce_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND octet_length(NEW.uid) < 1000 THEN
        PERFORM pg_notify('atelier_task', NEW.id || ' ' || NEW.uid);
    END IF;
    RETURN NULL;
END
$$;
