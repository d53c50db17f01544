-- Made at 20261124213500.
-- For the text that a holder attaches to a shared or counted hold. That of an exclusive hold stands in rowlock_lock.value,
-- after the hold's token. Libraries of earlier versions work beside it: they leave the new column empty.
-- SQLite adds no column that may be there already, so the table is made anew. The savepoint makes that one transaction
-- where a tool uses none: a grant between two statements would be lost. So the file can be run again.
PRAGMA busy_timeout = 5000;

SAVEPOINT rowlock_data;

CREATE TABLE rowlock_permit_4 (
  name        TEXT    NOT NULL,
  hold_id     TEXT    NOT NULL,
  lease_id    TEXT    NOT NULL,
  weight      INTEGER NOT NULL,
  token       INTEGER NOT NULL,
  granted_at  INTEGER NOT NULL,
  data        TEXT,
  PRIMARY KEY (name, hold_id)
) WITHOUT ROWID;

-- Run again, it keeps the texts: a sub-query that does not find the column in the table takes that of `unset`.
INSERT INTO rowlock_permit_4 (name, hold_id, lease_id, weight, token, granted_at, data)
SELECT p.name, p.hold_id, p.lease_id, p.weight, p.token, p.granted_at,
       (SELECT data FROM rowlock_permit WHERE name = p.name AND hold_id = p.hold_id)
FROM (SELECT NULL AS data) AS unset,
     (SELECT name, hold_id, lease_id, weight, token, granted_at FROM rowlock_permit) AS p;

DROP TABLE rowlock_permit;

ALTER TABLE rowlock_permit_4 RENAME TO rowlock_permit;

UPDATE rowlock_meta SET schema_version = 4 WHERE id = 1;

RELEASE rowlock_data;
