-- What processes that act on alerts have seen: the value of each trigger of a session, so that only one of them acts on it. A session
-- is named by its hash, as in forgotten.
CREATE TABLE claims (
  session BLOB NOT NULL,
  name    TEXT NOT NULL,
  value   INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (session, name)
) WITHOUT ROWID;
