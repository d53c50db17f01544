-- Only the version changes, as on the way up.
PRAGMA busy_timeout = 5000;

UPDATE rowlock_meta SET schema_version = 4 WHERE id = 1;
