-- Made at 20261126004000.
-- Nothing changes here but the version: dumps of PostgreSQL's tools restore generated columns, and those of MariaDB's do not
-- (migrations/mysql). The folders have the same migrations, so that a version says the same of every database.
SET lock_timeout = '5s';

UPDATE rowlock_meta SET schema_version = 5 WHERE id = 1;

RESET lock_timeout;
