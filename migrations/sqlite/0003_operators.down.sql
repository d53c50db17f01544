-- Drops the history, and what leases say of users and programs. As on the way up, a savepoint makes it one transaction
-- where a tool uses none, and it can be run again.
PRAGMA busy_timeout = 5000;

SAVEPOINT rowlock_operators;

DROP TABLE IF EXISTS rowlock_history;

DROP TABLE IF EXISTS rowlock_recording;

CREATE TABLE rowlock_lease_2 (
  id          TEXT    NOT NULL PRIMARY KEY,
  client_id   TEXT    NOT NULL,
  host        TEXT    NOT NULL,
  pid         INTEGER NOT NULL,
  application TEXT    NOT NULL,
  ttl_ms      INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  notice      INTEGER NOT NULL DEFAULT 0,
  created_at  INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO rowlock_lease_2 (id, client_id, host, pid, application, ttl_ms, expires_at, notice, created_at)
SELECT id, client_id, host, pid, application, ttl_ms, expires_at, notice, created_at FROM rowlock_lease;

DROP TABLE rowlock_lease;

ALTER TABLE rowlock_lease_2 RENAME TO rowlock_lease;

CREATE TABLE rowlock_meta_2 (
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

INSERT INTO rowlock_meta_2 (id, schema_version, min_library, epoch, token_floor, identity, epoch_s, skew_ms)
SELECT id, 2, min_library, epoch, token_floor, identity, epoch_s, skew_ms FROM rowlock_meta;

DROP TABLE rowlock_meta;

ALTER TABLE rowlock_meta_2 RENAME TO rowlock_meta;

RELEASE rowlock_operators;
