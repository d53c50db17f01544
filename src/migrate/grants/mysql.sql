-- The rights of a user, by what it does. :role stands for a quoted name, :schema. for a quoted name with a point, or for
-- nothing.

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
-- As run, what is recorded, and the transactions of other users.
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
-- The column is what a guard writes on a Galera cluster.
GRANT SELECT, UPDATE (guards) ON :schema.rowlock_lock TO :role;
GRANT SELECT, UPDATE (guards) ON :schema.rowlock_permit TO :role;
