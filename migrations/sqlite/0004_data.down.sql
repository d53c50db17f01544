-- Drops the texts of shared and counted holds. As on the way up, a savepoint makes it one transaction where a tool uses
-- none, and it can be run again.
PRAGMA busy_timeout = 5000;

SAVEPOINT rowlock_data;

CREATE TABLE rowlock_permit_3 (
  name        TEXT    NOT NULL,
  hold_id     TEXT    NOT NULL,
  lease_id    TEXT    NOT NULL,
  weight      INTEGER NOT NULL,
  token       INTEGER NOT NULL,
  granted_at  INTEGER NOT NULL,
  PRIMARY KEY (name, hold_id)
) WITHOUT ROWID;

INSERT INTO rowlock_permit_3 (name, hold_id, lease_id, weight, token, granted_at)
SELECT name, hold_id, lease_id, weight, token, granted_at FROM rowlock_permit;

DROP TABLE rowlock_permit;

ALTER TABLE rowlock_permit_3 RENAME TO rowlock_permit;

UPDATE rowlock_meta SET schema_version = 3 WHERE id = 1;

RELEASE rowlock_data;
