-- Only the version changes, as on the way up.
SET lock_timeout = '5s';

UPDATE rowlock_meta SET schema_version = 4 WHERE id = 1;

RESET lock_timeout;
