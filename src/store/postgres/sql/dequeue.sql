-- $1 names, $2 holds. OFFSET 0: as in find.
DELETE FROM rowlock_queue AS q
USING unnest($1::text[], $2::uuid[]) AS a (name, hold_id)
CROSS JOIN LATERAL (
  SELECT w.ctid AS place FROM rowlock_queue AS w WHERE w.name = a.name AND w.hold_id = a.hold_id OFFSET 0
) AS found
WHERE q.ctid = found.place;
