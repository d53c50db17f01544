-- Back to epochs in steps of 64 seconds, rounded up, so that no token goes back. The file can be run again when it was
-- interrupted after any statement, by a tool that uses no transaction.
PRAGMA busy_timeout = 5000;

-- Where a run ended between DROP and RENAME it is missing, and all that it said stands in rowlock_meta_1.
CREATE TABLE IF NOT EXISTS rowlock_meta (id, min_library, epoch, token_floor, identity);

CREATE TABLE IF NOT EXISTS rowlock_meta_1 (
  id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  min_library    INTEGER NOT NULL,
  epoch          INTEGER NOT NULL DEFAULT 0,
  token_floor    INTEGER NOT NULL DEFAULT 0,
  identity       TEXT    NOT NULL DEFAULT ''
);

-- A sub-query that does not find epoch_floor in the table, because a run before came to its end, takes that of `unset`.
INSERT OR REPLACE INTO rowlock_meta_1 (id, schema_version, min_library, epoch, token_floor, identity)
SELECT m.id, 1, m.min_library,
       coalesce(((SELECT epoch_floor FROM rowlock_meta WHERE id = 1) + 134217727) / 134217728, m.epoch),
       m.token_floor, m.identity
FROM (SELECT NULL AS epoch_floor) AS unset,
     (SELECT id, min_library, epoch, token_floor, identity FROM rowlock_meta WHERE id = 1) AS m;

DROP TABLE rowlock_meta;

ALTER TABLE rowlock_meta_1 RENAME TO rowlock_meta;
