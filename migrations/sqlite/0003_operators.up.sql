-- Made at 20261123143000.
-- For operators: whose process a lease is of and what it runs, and the history of the names that are recorded. Libraries
-- of earlier versions work beside it: they leave the new columns empty, and record nothing.
-- SQLite adds no column that may be there already, so two tables are made anew. The savepoint makes that one transaction
-- where a tool uses none: a renewal between two statements would be lost. So the file can be run again.
PRAGMA busy_timeout = 5000;

SAVEPOINT rowlock_operators;

CREATE TABLE IF NOT EXISTS rowlock_recording (
  pattern TEXT    NOT NULL PRIMARY KEY,
  keep    INTEGER NOT NULL,
  age_h   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS rowlock_history (
  name        TEXT    NOT NULL,
  id          INTEGER NOT NULL,
  happened_at INTEGER NOT NULL,
  event       TEXT    NOT NULL,
  token       INTEGER NOT NULL,
  hold_id     TEXT    NOT NULL,
  lease_id    TEXT    NOT NULL,
  detail      TEXT    NOT NULL,
  host        TEXT    NOT NULL,
  username    TEXT    NOT NULL,
  pid         INTEGER NOT NULL,
  application TEXT    NOT NULL,
  program     TEXT    NOT NULL,
  PRIMARY KEY (name, id)
) WITHOUT ROWID;

CREATE TABLE rowlock_lease_3 (
  id          TEXT    NOT NULL PRIMARY KEY,
  client_id   TEXT    NOT NULL,
  host        TEXT    NOT NULL,
  pid         INTEGER NOT NULL,
  application TEXT    NOT NULL,
  ttl_ms      INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  notice      INTEGER NOT NULL DEFAULT 0,
  created_at  INTEGER NOT NULL,
  username    TEXT    NOT NULL DEFAULT '',
  program     TEXT    NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- Run again, it keeps what the columns of this version say: a sub-query that does not find them in the table takes those
-- of `unset`.
INSERT INTO rowlock_lease_3 (id, client_id, host, pid, application, ttl_ms, expires_at, notice, created_at, username,
                             program)
SELECT l.id, l.client_id, l.host, l.pid, l.application, l.ttl_ms, l.expires_at, l.notice, l.created_at,
       (SELECT username FROM rowlock_lease WHERE id = l.id), (SELECT program FROM rowlock_lease WHERE id = l.id)
FROM (SELECT '' AS username, '' AS program) AS unset,
     (SELECT id, client_id, host, pid, application, ttl_ms, expires_at, notice, created_at FROM rowlock_lease) AS l;

DROP TABLE rowlock_lease;

ALTER TABLE rowlock_lease_3 RENAME TO rowlock_lease;

CREATE TABLE rowlock_meta_3 (
  id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  min_library    INTEGER NOT NULL,
  epoch          INTEGER NOT NULL DEFAULT 0,
  token_floor    INTEGER NOT NULL DEFAULT 0,
  identity       TEXT    NOT NULL DEFAULT '',
  epoch_s        INTEGER NOT NULL DEFAULT 0,
  epoch_floor    INTEGER GENERATED ALWAYS AS (max(epoch_s * 2097152, epoch * 134217728)) STORED,
  skew_ms        INTEGER NOT NULL DEFAULT 0,
  recordings     INTEGER NOT NULL DEFAULT 0
);

INSERT INTO rowlock_meta_3 (id, schema_version, min_library, epoch, token_floor, identity, epoch_s, skew_ms, recordings)
SELECT m.id, 3, m.min_library, m.epoch, m.token_floor, m.identity, m.epoch_s, m.skew_ms,
       (SELECT recordings FROM rowlock_meta WHERE id = 1)
FROM (SELECT 0 AS recordings) AS unset,
     (SELECT id, min_library, epoch, token_floor, identity, epoch_s, skew_ms FROM rowlock_meta WHERE id = 1) AS m;

DROP TABLE rowlock_meta;

ALTER TABLE rowlock_meta_3 RENAME TO rowlock_meta;

RELEASE rowlock_operators;
