-- :names, asked again now that they are held, and with them their queues and permits. The row of meta is held already.
SELECT HEX(k.name), k.token
FROM JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
WHERE k.kind IN ('mutex', 'shared_mutex', 'semaphore', 'latch', 'barrier', 'election')
  AND k.lease_id IS NULL AND k.in_use = 0 AND k.has_queue = 0
  AND k.used_at <= SYSDATE(6) - INTERVAL :idle_us MICROSECOND
FOR UPDATE SKIP LOCKED;
