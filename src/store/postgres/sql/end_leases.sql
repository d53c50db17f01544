-- $1 leases, by their owner.
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
)
DELETE FROM rowlock_lease AS l USING taken AS t WHERE l.id = t.id;
