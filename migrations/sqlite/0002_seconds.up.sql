-- Epochs in seconds, and the skew of the database. A library of version 1 works beside it: it raises `epoch`, which
-- counts in steps of 64 seconds. The head of a queue is found by its key alone here: a row that was deleted is gone.
-- SQLite adds no column that may be there already, so the table is made anew. The file can be run again when it was
-- interrupted after any statement, by a tool that uses no transaction.
PRAGMA busy_timeout = 5000;

-- Where a run ended between DROP and RENAME it is missing, and all that it said stands in rowlock_meta_2.
CREATE TABLE IF NOT EXISTS rowlock_meta (id, min_library, epoch, token_floor, identity);

CREATE TABLE IF NOT EXISTS rowlock_meta_2 (
  id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  min_library    INTEGER NOT NULL,
  epoch          INTEGER NOT NULL DEFAULT 0,
  token_floor    INTEGER NOT NULL DEFAULT 0,
  identity       TEXT    NOT NULL DEFAULT '',
  epoch_s        INTEGER NOT NULL DEFAULT 0,
  epoch_floor    INTEGER GENERATED ALWAYS AS (max(epoch_s * 2097152, epoch * 134217728)) STORED,
  skew_ms        INTEGER NOT NULL DEFAULT 0
);

-- Run again, it keeps what the columns of this version say: a sub-query that does not find epoch_s in the table takes that
-- of `unset`. WHERE tells the parser that ON CONFLICT belongs to the INSERT.
INSERT INTO rowlock_meta_2 (id, schema_version, min_library, epoch, token_floor, identity, epoch_s, skew_ms)
SELECT m.id, 2, m.min_library, m.epoch, m.token_floor, m.identity,
       (SELECT epoch_s FROM rowlock_meta WHERE id = 1), (SELECT skew_ms FROM rowlock_meta WHERE id = 1)
FROM (SELECT 0 AS epoch_s, 0 AS skew_ms) AS unset,
     (SELECT id, min_library, epoch, token_floor, identity FROM rowlock_meta WHERE id = 1) AS m
WHERE true
ON CONFLICT (id) DO UPDATE
   SET epoch = max(epoch, excluded.epoch), token_floor = max(token_floor, excluded.token_floor),
       epoch_s = max(epoch_s, excluded.epoch_s), skew_ms = max(skew_ms, excluded.skew_ms);

DROP TABLE rowlock_meta;

ALTER TABLE rowlock_meta_2 RENAME TO rowlock_meta;
