-- The completed fraction of a running task, as its model has reported it. `words` is the message.
ALTER TABLE task ADD COLUMN progress DOUBLE PRECISION;
