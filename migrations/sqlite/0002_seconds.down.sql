-- Back to epochs in steps of 64 seconds, rounded up, so that no token goes back. A half-done run can be repeated.
PRAGMA busy_timeout = 5000;

CREATE TABLE IF NOT EXISTS rowlock_meta_1 (
  id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  min_library    INTEGER NOT NULL,
  epoch          INTEGER NOT NULL DEFAULT 0,
  token_floor    INTEGER NOT NULL DEFAULT 0,
  identity       TEXT    NOT NULL DEFAULT ''
);

INSERT OR REPLACE INTO rowlock_meta_1 (id, schema_version, min_library, epoch, token_floor, identity)
SELECT id, 1, min_library, (epoch_floor + 134217727) / 134217728, token_floor, identity FROM rowlock_meta;

DROP TABLE rowlock_meta;

ALTER TABLE rowlock_meta_1 RENAME TO rowlock_meta;
