-- What `rowlock doctor` reads. Nothing here writes. Each row is the name of a fact and its value.

-- name: doctor_file
SELECT 'journal_mode', journal_mode FROM pragma_journal_mode;

-- name: doctor_leases
SELECT 'dead_leases', count(*) FROM rowlock_lease WHERE expires_at < :now_us - 300000000;

-- name: doctor_names
SELECT 'idle_names', count(*)
  FROM rowlock_lock
 WHERE lease_id IS NULL AND in_use = 0 AND has_queue = 0 AND used_at < :now_us - 2592000000000;
