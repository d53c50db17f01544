-- What may be collected. Kinds of a later version are left to it.
SELECT HEX(k.name)
FROM rowlock_lock AS k
WHERE k.kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
  AND k.lease_id IS NULL AND k.in_use = 0 AND k.has_queue = 0
  AND k.used_at <= SYSDATE(6) - INTERVAL :idle_us MICROSECOND
  AND NOT EXISTS (SELECT 1 FROM rowlock_queue AS q WHERE q.name = k.name)
  AND NOT EXISTS (SELECT 1 FROM rowlock_permit AS p WHERE p.name = k.name)
ORDER BY k.name
LIMIT :most;
