-- $1 names, $2 holds.
DELETE FROM rowlock_permit AS p
USING unnest($1::text[], $2::uuid[]) AS a (name, hold_id)
WHERE p.name = a.name AND p.hold_id = a.hold_id;
