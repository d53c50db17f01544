-- $1 names, $2 holds.
DELETE FROM rowlock_queue AS q
USING unnest($1::text[], $2::uuid[]) AS a (name, hold_id)
WHERE q.name = a.name AND q.hold_id = a.hold_id;
