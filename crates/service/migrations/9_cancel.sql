-- 1: canceled, and the model may still run the task; 2: canceled and stopped.
ALTER TABLE task ADD COLUMN canceled SMALLINT NOT NULL DEFAULT 0;
CREATE INDEX task_stopping ON task (seq) WHERE canceled = 1;
