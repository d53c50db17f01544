-- $1 table name. Behind a pooler this follows the wait for another migrator within one transaction. There to_regclass
-- alone may miss a table that has come meanwhile: only who locks a relation, as here pg_class, hears what has changed.
SELECT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass($1::text));
