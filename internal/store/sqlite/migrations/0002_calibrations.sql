-- What reports taught of how a model counts, as core.Calibration in JSON: it is read and written as a whole.
CREATE TABLE calibrations (
  model    TEXT NOT NULL,
  encoding TEXT NOT NULL,
  data     TEXT NOT NULL,
  PRIMARY KEY (model, encoding)
) WITHOUT ROWID;
