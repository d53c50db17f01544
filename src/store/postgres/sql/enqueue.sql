-- $1 names, $2 tickets, $3 holds, $4 leases.
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode)
SELECT name, ticket, hold_id, lease_id, 1, 'exclusive'
FROM unnest($1::text[], $2::bigint[], $3::uuid[], $4::uuid[]) AS a (name, ticket, hold_id, lease_id);
