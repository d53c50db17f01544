-- name: create_lease
-- If it is sent again after a lost answer, it renews the lease. A lease that has expired meanwhile is unchanged.
INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, username, program, created_at, expires_at)
VALUES (UNHEX(:lease), UNHEX(:client), LEFT(:host, 255), :pid, LEFT(:application, 1024), :ttl_ms,
        LEFT(:username, 255), LEFT(:program, 255), SYSDATE(6),
        SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND)
ON DUPLICATE KEY UPDATE
  expires_at = IF(expires_at > SYSDATE(6), SYSDATE(6) + INTERVAL ttl_ms * 1000 MICROSECOND, expires_at);

-- name: lease_lives
SELECT expires_at > SYSDATE(6) FROM rowlock_lease WHERE id = UNHEX(:lease);

-- name: renew_take
-- Which of :leases, sorted, may be renewed; their rows are locked from here on.
SELECT HEX(l.id) AS id
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
WHERE l.expires_at > SYSDATE(6)
FOR UPDATE /*!80000 OF l */;

-- name: renew
-- Renews :leases, or shortens those that are too long. This transaction has locked their rows.
UPDATE JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.expires_at = SYSDATE(6) + INTERVAL l.ttl_ms * 1000 MICROSECOND;

-- name: renew_read
-- Returns the columns of read_database_state, with one row for each of :leases, or one row if there is none.
SELECT m.identity AS recorded_identity, :epoch_floor AS epoch_floor,
       COALESCE((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker, m.skew_ms,
       m.cluster_seen, m.recordings, :read_only AS is_read_only, HEX(l.id) AS id, l.notice,
       /*!80000 CONCAT('mysql/', @@server_uuid) */ /*M! NULL */ AS server,
       /*!80000 (SELECT UNIX_TIMESTAMP(NOW()) - CAST(variable_value AS SIGNED)
                 FROM performance_schema.global_status
                 WHERE variable_name = 'Uptime') */ /*M! NULL */ AS up_since
FROM rowlock_meta AS m
LEFT JOIN (JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
           JOIN rowlock_lease AS l ON l.id = UNHEX(a.id)) ON TRUE
WHERE m.id = 1;

-- name: renew_one
-- A script. The server checks WHERE after it has locked the row, and SYSDATE reads the clock then: a renewal
-- that waited does not renew a lease that has expired meanwhile. The second statement returns what renew_read
-- returns. It leaves out a lease that was not renewed, because that is expired or gone, and one that was
-- killed between the two statements, as if it had been killed after both.
UPDATE rowlock_lease
SET expires_at = SYSDATE(6) + INTERVAL ttl_ms * 1000 MICROSECOND
WHERE id = UNHEX(:lease) AND expires_at > SYSDATE(6);
SELECT m.identity AS recorded_identity, :epoch_floor AS epoch_floor,
       COALESCE((SELECT value FROM rowlock_marker WHERE id = 1), '') AS marker, m.skew_ms,
       m.cluster_seen, m.recordings, :read_only AS is_read_only, HEX(l.id) AS id, l.notice,
       /*!80000 CONCAT('mysql/', @@server_uuid) */ /*M! NULL */ AS server,
       /*!80000 (SELECT UNIX_TIMESTAMP(NOW()) - CAST(variable_value AS SIGNED)
                 FROM performance_schema.global_status
                 WHERE variable_name = 'Uptime') */ /*M! NULL */ AS up_since
FROM rowlock_meta AS m
LEFT JOIN rowlock_lease AS l ON l.id = UNHEX(:lease) AND l.expires_at > SYSDATE(6)
WHERE m.id = 1;

-- name: kill_take
-- :leases, sorted. A locked row is being renewed or killed, so it is skipped. If meta does not name this server,
-- nothing is changed, because this server's clock may differ. Returns the leases whose rows this transaction has
-- locked: those that have expired, and those that are too long.
SELECT HEX(l.id) AS id, l.expires_at <= SYSDATE(6) AS is_expired
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
WHERE (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :this_server
  AND (l.expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
       OR l.expires_at > SYSDATE(6) + INTERVAL l.ttl_ms * 1000 + :skew_us MICROSECOND)
FOR UPDATE /*!80000 OF l */ SKIP LOCKED;

-- name: kill_one
-- As kill_take, for a single lease, which is deleted at once if it has expired.
DELETE l
FROM (
  SELECT k.id
  FROM rowlock_lease AS k
  WHERE (SELECT m.identity FROM rowlock_meta AS m WHERE m.id = 1) = :this_server
    AND k.id = UNHEX(:lease) AND k.expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
  LIMIT 1
  FOR UPDATE SKIP LOCKED
) AS expired
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = expired.id;

-- name: end
-- :leases, ended by their owner or locked by this transaction.
DELETE l
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id);

-- name: read_held_page
-- The last of the next names, and how many there are.
SELECT MAX(name) AS name, COUNT(*) AS names
FROM (SELECT l.name
      FROM rowlock_lock AS l
      WHERE l.name > :after
      ORDER BY l.name
      LIMIT :most) AS page;

-- name: read_held
-- What stands on the leases of a client, for the names of a page.
SELECT l.name, HEX(l.hold_id) AS hold_id, HEX(l.lease_id) AS lease_id, 'exclusive' AS mode, 0 AS queued
FROM rowlock_lock AS l JOIN rowlock_lease AS h ON h.id = l.lease_id
WHERE l.name > :after AND l.name <= :last AND h.client_id = :client
UNION ALL
SELECT p.name, HEX(p.hold_id), HEX(p.lease_id), 'shared', 0
FROM rowlock_permit AS p JOIN rowlock_lease AS h ON h.id = p.lease_id
WHERE p.name > :after AND p.name <= :last AND h.client_id = :client
UNION ALL
SELECT q.name, HEX(q.hold_id), HEX(q.lease_id), q.mode, 1
FROM rowlock_queue AS q JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE q.name > :after AND q.name <= :last AND w.client_id = :client;

-- name: find_stale_leases
SELECT HEX(id) AS id
FROM rowlock_lease
WHERE expires_at + INTERVAL :skew_us MICROSECOND <= SYSDATE(6)
   OR expires_at > SYSDATE(6) + INTERVAL ttl_ms * 1000 + :skew_us MICROSECOND
ORDER BY expires_at
LIMIT :most;

-- name: find_stale_names
-- A page of at most :most locks after the name :after, each with whether it names a missing lease, as holder or in
-- the queue, and whether there may be more locks. The permits of a latch outlive their leases.
SELECT l.name, COUNT(*) OVER () = :most AS more,
       (l.lease_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rowlock_lease AS h WHERE h.id = l.lease_id))
       OR (l.has_queue AND EXISTS (SELECT 1
                                   FROM rowlock_queue AS q
                                   LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
                                   WHERE q.name = l.name AND w.id IS NULL))
       OR (l.kind <> 'latch' AND EXISTS (SELECT 1
                                         FROM rowlock_permit AS p
                                         LEFT JOIN rowlock_lease AS h ON h.id = p.lease_id
                                         WHERE p.name = l.name AND h.id IS NULL)) AS is_stale
FROM (
  SELECT k.name, k.kind, k.lease_id, k.has_queue
  FROM rowlock_lock AS k FORCE INDEX (PRIMARY)
  WHERE k.name > :after
  ORDER BY k.name
  LIMIT :most
) AS l
ORDER BY l.name;
