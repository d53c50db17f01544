-- $1 names, $2 holds, $3 leases, $4 weights, $5 tokens.
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token)
SELECT name, hold_id, lease_id, weight, token
FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[])
  AS a (name, hold_id, lease_id, weight, token);
