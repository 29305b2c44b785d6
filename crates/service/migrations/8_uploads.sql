-- Files that users upload as input of their tasks. An upload is kept until it has expired and all tasks that use it
-- are removed.
CREATE TABLE upload (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    width INTEGER,
    height INTEGER,
    expires_ms BIGINT NOT NULL,
    UNIQUE (owner, sha256)
);
CREATE INDEX upload_by_expiry ON upload (expires_ms);
CREATE TABLE upload_use (
    upload TEXT NOT NULL,
    task TEXT NOT NULL REFERENCES task (id) ON DELETE CASCADE,
    PRIMARY KEY (upload, task)
);
CREATE INDEX upload_use_by_task ON upload_use (task);

CREATE FUNCTION upload_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE usage SET bytes = bytes - OLD.bytes WHERE uid = OLD.owner;
        RETURN OLD;
    END IF;
    INSERT INTO usage (uid, bytes) VALUES (NEW.owner, NEW.bytes)
    ON CONFLICT (uid) DO UPDATE SET bytes = usage.bytes + excluded.bytes;
    RETURN NEW;
END;
$$;
CREATE TRIGGER upload_usage AFTER INSERT OR DELETE ON upload
FOR EACH ROW EXECUTE FUNCTION upload_usage();
