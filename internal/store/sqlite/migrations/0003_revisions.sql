-- A revision counts the saves and removals of sessions, so that who watches the state can ask what has changed since the
-- last time. The newest is the largest in the two tables. It starts at the time in microseconds: a store that
-- replaces another one is then ahead of it, since no store is saved to a million times a second.

ALTER TABLE sessions ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_by_revision ON sessions (revision);

-- The last sessions that were removed. What happened before the first row is not known; the very first stands for that.
CREATE TABLE removed (
  revision   INTEGER PRIMARY KEY,
  host       TEXT NOT NULL,
  session_id TEXT NOT NULL
);
INSERT INTO removed VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), '', '');

CREATE TRIGGER session_removed AFTER DELETE ON sessions BEGIN
  INSERT INTO removed VALUES (
    1 + max(OLD.revision, (SELECT max(revision) FROM removed), (SELECT ifnull(max(revision), 0) FROM sessions)),
    OLD.host, OLD.session_id);
  DELETE FROM removed WHERE revision < (SELECT revision FROM removed ORDER BY revision DESC LIMIT 1 OFFSET 999);
END;
