-- $1 names, $2 tickets, $3 holds, $4 leases, $5 weights, $6 modes.
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode)
SELECT name, ticket, hold_id, lease_id, weight, mode
FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::uuid[], $5::bigint[], $6::text[])
  AS a (name, ticket, hold_id, lease_id, weight, mode);
