-- New tasks are announced by the process that accepts them, many at a time: transactions with notifications commit one after
-- the other.
DROP TRIGGER task_announced ON task;
CREATE TRIGGER task_announced
    AFTER UPDATE OF status, finished_ms, words, progress, preview ON task
    FOR EACH ROW EXECUTE FUNCTION announce_task();
