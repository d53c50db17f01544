-- Kinds of a later version are left to it.
DELETE FROM rowlock_lock
 WHERE name = ?1
   AND kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
   AND lease_id IS NULL
   AND in_use = 0
   AND has_queue = 0
   AND used_at <= CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) - ?2
   AND NOT EXISTS (SELECT 1 FROM rowlock_queue q WHERE q.name = ?1)
   AND NOT EXISTS (SELECT 1 FROM rowlock_permit p WHERE p.name = ?1)
RETURNING token;
