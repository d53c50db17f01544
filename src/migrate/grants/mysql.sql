-- The rights of a user, one section for each value of role_use. :role stands for a quoted name, :schema. for a quoted
-- name with a point, or for nothing.

-- name: run
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_lease TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_lock TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_permit TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_queue TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_marker TO :role;
GRANT SELECT, UPDATE ON :schema.rowlock_meta TO :role;
GRANT SELECT ON :schema.rowlock_recording TO :role;
GRANT SELECT, INSERT, DELETE ON :schema.rowlock_history TO :role;

-- name: observe
GRANT SELECT ON :schema.rowlock_lease TO :role;
GRANT SELECT ON :schema.rowlock_lock TO :role;
GRANT SELECT ON :schema.rowlock_permit TO :role;
GRANT SELECT ON :schema.rowlock_queue TO :role;
GRANT SELECT ON :schema.rowlock_marker TO :role;
GRANT SELECT ON :schema.rowlock_meta TO :role;
GRANT SELECT ON :schema.rowlock_recording TO :role;
GRANT SELECT ON :schema.rowlock_history TO :role;

-- name: operate
-- The rights of run, the right to change what is recorded, and that to see the transactions of other users.
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_lease TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_lock TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_permit TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_queue TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_marker TO :role;
GRANT SELECT, UPDATE ON :schema.rowlock_meta TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_recording TO :role;
GRANT SELECT, INSERT, DELETE ON :schema.rowlock_history TO :role;
GRANT PROCESS ON *.* TO :role;

-- name: migrate
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX ON :database.* TO :role;

-- name: write
-- A guard on a Galera cluster writes the column `guards`.
GRANT SELECT, UPDATE (guards) ON :schema.rowlock_lock TO :role;
GRANT SELECT, UPDATE (guards) ON :schema.rowlock_permit TO :role;
