-- $1 id, $2 client, $3 host, $4 pid, $5 application, $6 ttl in milliseconds.
-- Sent again after a lost answer it renews; a lease that expired meanwhile stays as it is, and no row is told.
INSERT INTO rowlock_lease AS l (id, client_id, host, pid, application, ttl_ms, expires_at)
VALUES ($1::uuid, $2::uuid, $3::text, $4::bigint, $5::text, $6::bigint,
        clock_timestamp() + $6::bigint * interval '1 millisecond')
ON CONFLICT (id) DO UPDATE
SET expires_at = clock_timestamp() + l.ttl_ms * interval '1 millisecond'
WHERE l.expires_at > clock_timestamp();
