-- Every instant is in milliseconds since 1970 UTC, 0 where there is none.

-- Marks the file as ours ("ctxl"), so that somebody else's database is never taken for an old state.
PRAGMA application_id = 0x6374786c;

-- What is searched for stands in columns, the rest in data: core.Session as JSON. Clients look for a session by its id
-- alone, so the id leads the key. added counts the rows that were ever added to the session's paths and samples.
CREATE TABLE sessions (
  id         INTEGER PRIMARY KEY,
  host       TEXT NOT NULL,
  session_id TEXT NOT NULL,
  cwd        TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  added      INTEGER NOT NULL,
  data       TEXT NOT NULL,
  UNIQUE (session_id, host)
);

CREATE TABLE paths (
  session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  path    TEXT NOT NULL,
  use     INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) WITHOUT ROWID;

-- seq orders the samples of a session as they came: it is what added was.
CREATE TABLE samples (
  session       INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq           INTEGER NOT NULL,
  at            INTEGER NOT NULL,
  tokens        INTEGER NOT NULL,
  window_tokens INTEGER NOT NULL,
  kind          TEXT NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

-- The ring: rows go only from its low end, so seq has no gaps and the last n tasks are those above max(seq) - n.
CREATE TABLE tasks (
  seq    INTEGER PRIMARY KEY,
  id     TEXT NOT NULL UNIQUE,
  tokens INTEGER NOT NULL,
  at     INTEGER NOT NULL
);

CREATE TABLE windows (
  host     TEXT NOT NULL,
  provider TEXT NOT NULL,
  model    TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  stated   INTEGER NOT NULL,
  why      TEXT NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (host, provider, model)
) WITHOUT ROWID;

-- One row: the counters and the alert gate.
CREATE TABLE fleet (
  id              INTEGER PRIMARY KEY CHECK (id = 1),
  trim_operations INTEGER NOT NULL,
  trimmed_tokens  INTEGER NOT NULL,
  alert_at        INTEGER NOT NULL,
  alert_rate      REAL NOT NULL
);

INSERT INTO fleet VALUES (1, 0, 0, 0, 0);
