-- $1 explicit-ttl leases. This transaction holds lock rows, so it waits for nobody: a lease that is skipped is
-- being killed, or expires by itself.
DELETE FROM rowlock_lease AS l
WHERE l.id = ANY (ARRAY (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED
));
