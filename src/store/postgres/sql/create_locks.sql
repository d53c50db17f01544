-- $1 names, $2 kinds, $3 capacities. In name order: two transactions that create the same names wait for each
-- other in one direction only. create_tokens follows in the same transaction.
INSERT INTO rowlock_lock (name, kind, capacity)
SELECT name, kind, capacity
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS a (name, kind, capacity)
ORDER BY name COLLATE "C"
ON CONFLICT (name) DO NOTHING;
