-- The rights of a role, one section for each value of role_use. :schema and :role stand for quoted names.

-- name: run
GRANT USAGE ON SCHEMA :schema TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_lease, :schema.rowlock_lock, :schema.rowlock_permit, :schema.rowlock_queue, :schema.rowlock_marker TO :role;
GRANT SELECT, UPDATE ON :schema.rowlock_meta TO :role;
GRANT SELECT ON :schema.rowlock_recording TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_history TO :role;

-- name: observe
GRANT USAGE ON SCHEMA :schema TO :role;
GRANT SELECT ON :schema.rowlock_lease, :schema.rowlock_lock, :schema.rowlock_permit, :schema.rowlock_queue, :schema.rowlock_meta, :schema.rowlock_marker, :schema.rowlock_recording, :schema.rowlock_history TO :role;

-- name: operate
-- The rights of run, the right to change what is recorded, and that to see the sessions of other roles.
GRANT USAGE ON SCHEMA :schema TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_lease, :schema.rowlock_lock, :schema.rowlock_permit, :schema.rowlock_queue, :schema.rowlock_marker TO :role;
GRANT SELECT, UPDATE ON :schema.rowlock_meta TO :role;
GRANT SELECT, INSERT, UPDATE, DELETE ON :schema.rowlock_recording, :schema.rowlock_history TO :role;
GRANT pg_read_all_stats TO :role;

-- name: migrate
GRANT USAGE, CREATE ON SCHEMA :schema TO :role;

-- name: write
-- Locking a row needs the right to update one of its columns; no decision is made from these columns.
GRANT USAGE ON SCHEMA :schema TO :role;
GRANT SELECT, UPDATE (used_at) ON :schema.rowlock_lock TO :role;
GRANT SELECT, UPDATE (granted_at) ON :schema.rowlock_permit TO :role;
