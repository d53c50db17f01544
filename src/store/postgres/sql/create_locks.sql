-- $1 names, $2 kinds, $3 capacities, $4 fairness, $5 delays. In name order: two transactions that create the same names
-- wait for each other in one direction only. create_tokens follows in the same transaction.
INSERT INTO rowlock_lock (name, kind, capacity, fair, delay_ms)
SELECT name, kind, capacity, fair, delay_ms
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::bigint[])
  AS a (name, kind, capacity, fair, delay_ms)
ORDER BY name COLLATE "C"
ON CONFLICT (name) DO NOTHING;
