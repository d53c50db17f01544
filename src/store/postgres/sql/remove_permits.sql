-- $1 names, $2 holds. OFFSET 0: as in find.
DELETE FROM rowlock_permit AS p
USING unnest($1::text[], $2::uuid[]) AS a (name, hold_id)
CROSS JOIN LATERAL (
  SELECT g.ctid AS place FROM rowlock_permit AS g WHERE g.name = a.name AND g.hold_id = a.hold_id OFFSET 0
) AS found
WHERE p.ctid = found.place;
