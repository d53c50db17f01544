-- name: enqueue
-- A script. Puts a waiter behind the live holder of a lock, and returns how long until that holder may be
-- killed. Every other case (dead, expired, too long, locked, another kind, sent again) is left to an edit; then nothing
-- changes and no row is returned.
-- The lock's row comes first. Later statements, which have snapshots of their own, read everything else that
-- decides. On MariaDB the script waits for nobody while it holds the row; on MySQL the INSERT waits for a second if a
-- user's transaction has locked the end of the queue.
SET @rowlock_held_by = NULL, @rowlock_ticket = NULL, @rowlock_takeover_us = NULL;
START TRANSACTION;
SELECT l.lease_id, l.next_ticket INTO @rowlock_held_by, @rowlock_ticket
FROM rowlock_lock AS l FORCE INDEX (PRIMARY)
WHERE l.name = :name AND l.kind = :kind AND l.capacity = :capacity AND l.fair = :fair
  AND l.lease_id IS NOT NULL AND l.hold_id <> UNHEX(:hold)
FOR UPDATE SKIP LOCKED;
SELECT TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at) INTO @rowlock_takeover_us
FROM rowlock_lease AS h
WHERE h.id = @rowlock_held_by AND h.expires_at + INTERVAL :skew_us MICROSECOND > SYSDATE(6)
  AND h.expires_at <= SYSDATE(6) + INTERVAL h.ttl_ms * 2000 MICROSECOND
  AND NOT EXISTS (SELECT 1 FROM rowlock_queue AS q WHERE q.name = :name AND q.hold_id = UNHEX(:hold));
/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight)
SELECT :name, @rowlock_ticket, UNHEX(:hold), UNHEX(:lease), :capacity
FROM DUAL
WHERE @rowlock_takeover_us IS NOT NULL;
UPDATE rowlock_lock
SET next_ticket = @rowlock_ticket + 1, has_queue = 1
WHERE name = :name AND @rowlock_takeover_us IS NOT NULL;
SELECT @rowlock_takeover_us AS takeover_us FROM DUAL WHERE @rowlock_takeover_us IS NOT NULL;
COMMIT;

-- name: find
-- :holds as [name, hold, whether it is the first of its name]. A hold or waiter whose lease is missing is
-- dead, so it is absent. takeover_us is that of the first lease in the way: the exclusive holder's, or else
-- of the permits and of the first waiter. A lease that is too long counts as due. takeover_us takes a look at
-- all permits, so it is read once for each name, and not at all for a single hold whose permit is live.
SELECT a.n,
       COALESCE(l.hold_id = UNHEX(a.hold) AND h.id IS NOT NULL, 0) OR g.id IS NOT NULL AS held,
       COALESCE(p.token, l.token) AS token,
       HEX(COALESCE(p.lease_id, l.lease_id)) AS lease_id,
       HEX(w.id) AS queued_lease_id,
       CASE WHEN l.name IS NULL OR NOT a.is_first THEN NULL
            WHEN l.lease_id IS NOT NULL
            THEN IF(h.expires_at <= SYSDATE(6) + INTERVAL h.ttl_ms * 2000 MICROSECOND,
                    TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), 0)
            WHEN l.in_use = 0 OR (:is_single AND g.id IS NOT NULL) THEN 0
            ELSE LEAST(COALESCE((SELECT MIN(IF(sl.expires_at <= SYSDATE(6) + INTERVAL sl.ttl_ms * 2000 MICROSECOND,
                                               TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), sl.expires_at), 0))
                                 FROM rowlock_permit AS s
                                 LEFT JOIN rowlock_lease AS sl ON sl.id = s.lease_id
                                 WHERE s.name = l.name AND l.kind <> 'latch'), 0),
                       COALESCE((SELECT IF(fl.expires_at <= SYSDATE(6) + INTERVAL fl.ttl_ms * 2000 MICROSECOND,
                                           TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), fl.expires_at), 0)
                                 FROM rowlock_queue AS f
                                 LEFT JOIN rowlock_lease AS fl ON fl.id = f.lease_id
                                 WHERE f.name = l.name AND f.ticket >= l.head_ticket
                                 ORDER BY f.ticket
                                 LIMIT 1), :never_us))
       END AS takeover_us,
       l.kind,
       l.capacity,
       l.has_queue,
       l.in_use,
       l.fair,
       COALESCE(l.request_token >= COALESCE(p.token, l.token), 0) AS is_asked_for
FROM JSON_TABLE(:holds, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]',
                                        hold VARCHAR(32) PATH '$[1]', is_first TINYINT PATH '$[2]')) AS a
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
LEFT JOIN rowlock_lease AS h ON h.id = l.lease_id
LEFT JOIN rowlock_permit AS p ON (l.in_use > 0 OR l.kind = 'barrier') AND p.name = l.name AND p.hold_id = UNHEX(a.hold)
LEFT JOIN rowlock_lease AS g ON g.id = p.lease_id
LEFT JOIN rowlock_queue AS q ON l.has_queue AND q.name = l.name AND q.hold_id = UNHEX(a.hold)
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id;

-- name: queue
SELECT q.ticket, HEX(q.hold_id) AS hold_id, HEX(q.lease_id) AS lease_id, q.weight, q.mode,
       HEX(w.id) AS id, HEX(w.client_id) AS client_id, w.host, w.pid, w.application, w.ttl_ms, w.username, w.program,
       FLOOR(TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), w.expires_at) / 1000) AS expires_time
FROM rowlock_queue AS q
LEFT JOIN rowlock_lease AS w ON w.id = q.lease_id
WHERE q.name = :name
ORDER BY q.ticket;

-- name: waited_for
SELECT name FROM rowlock_queue GROUP BY name;

-- name: send_wakeups
-- :woken, leases of clients for whom something has changed; the clients see it with poll_wakeups. A lease that its
-- renewal has locked is left out; its client's regular poll makes up for that.
UPDATE (
  SELECT k.id
  FROM JSON_TABLE(:woken, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
  STRAIGHT_JOIN rowlock_lease AS k FORCE INDEX (PRIMARY) ON k.id = UNHEX(a.id)
  LIMIT :all_rows
  FOR UPDATE /*!80000 OF k */ SKIP LOCKED
) AS woken
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = woken.id
SET l.wakes = l.wakes + 1;

-- name: poll_wakeups
-- :leases. If the sum differs from the last one, something may have changed for one of these clients.
SELECT COALESCE(SUM(l.wakes + l.notice), 0)
FROM JSON_TABLE(:leases, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l ON l.id = UNHEX(a.id);

-- name: poll_wakeups_one
-- As poll_wakeups, for one client: what a process sends while it waits.
SELECT wakes + notice FROM rowlock_lease WHERE id = UNHEX(:lease);
