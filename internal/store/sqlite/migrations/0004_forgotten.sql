-- The sessions that a user or a host asked to forget, so that they do not come back from the host's own record. A row holds a
-- hash, which does not tell which session it was.
CREATE TABLE forgotten (
  hash BLOB PRIMARY KEY
) WITHOUT ROWID;
