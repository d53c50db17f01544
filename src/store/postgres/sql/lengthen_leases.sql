-- On another server than the recorded one, whose clock may be ahead or behind: every lease expires its own ttl from now.
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease ORDER BY id FOR NO KEY UPDATE
),
held AS MATERIALIZED (
  SELECT count(*), clock_timestamp() AS now FROM taken
)
UPDATE rowlock_lease AS l
SET expires_at = held.now + l.ttl_ms * interval '1 millisecond'
FROM taken AS t, held
WHERE l.id = t.id;
