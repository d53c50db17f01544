-- $1 leases whose owners must check their holds. The one place where a holder of lock rows waits: a renewal
-- holds its lease for one statement and waits for no lock row, and a notice must not be skipped.
WITH taken AS MATERIALIZED (
  SELECT id FROM rowlock_lease WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
)
UPDATE rowlock_lease AS l SET notice = l.notice + 1 FROM taken AS t WHERE l.id = t.id;
