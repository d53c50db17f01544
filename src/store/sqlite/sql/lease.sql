-- name: create_lease
-- If it is sent again after a lost answer, it renews the lease. A lease that has expired meanwhile is unchanged.
INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, username, program, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,
        :now_us,
        :now_us + ?6 * 1000)
ON CONFLICT (id) DO UPDATE
   SET expires_at = excluded.expires_at
 WHERE expires_at > excluded.created_at;

-- name: renew
-- An expired lease is never renewed, even before it is killed.
UPDATE rowlock_lease
   SET expires_at = :now_us + ttl_ms * 1000
 WHERE id = ?1
   AND expires_at > :now_us
RETURNING notice;

-- name: find_killable
-- This is asked before the write lock is taken, because most leases that a client tries to kill are alive.
SELECT 1
  FROM rowlock_lease
 WHERE id = ?1
   AND (expires_at + ?2 <= :now_us OR expires_at > :now_us + ttl_ms * 1000 + ?2);

-- name: kill
DELETE FROM rowlock_lease
 WHERE id = ?1
   AND expires_at + ?2 <= :now_us;

-- name: shorten
-- No lease is good for longer than its ttl from now: the clock was set back after its last renewal.
UPDATE rowlock_lease
   SET expires_at = :now_us + ttl_ms * 1000
 WHERE id = ?1
   AND expires_at > :now_us + ttl_ms * 1000 + ?2;

-- name: end
-- name: edit_end_leases
DELETE FROM rowlock_lease WHERE id = ?1;

-- name: read_held_page
-- The last of the next names, and how many there are. ?1 after which name, ?2 how many at most.
SELECT max(name) AS name, count(*) AS names
  FROM (SELECT name
          FROM rowlock_lock
         WHERE name > ?1
         ORDER BY name
         LIMIT ?2);

-- name: read_held
-- What stands on the leases of a client, for the names of a page. ?1 client, ?2 after which name, ?3 the last
-- name.
SELECT k.name, k.hold_id, k.lease_id, 'exclusive' AS mode, 0 AS queued
  FROM rowlock_lock k
  JOIN rowlock_lease l ON l.id = k.lease_id
 WHERE k.name > ?2 AND k.name <= ?3 AND l.client_id = ?1
 UNION ALL
SELECT p.name, p.hold_id, p.lease_id, 'shared', 0
  FROM rowlock_permit p
  JOIN rowlock_lease l ON l.id = p.lease_id
 WHERE p.name > ?2 AND p.name <= ?3 AND l.client_id = ?1
 UNION ALL
SELECT q.name, q.hold_id, q.lease_id, q.mode, 1
  FROM rowlock_queue q
  JOIN rowlock_lease l ON l.id = q.lease_id
 WHERE q.name > ?2 AND q.name <= ?3 AND l.client_id = ?1;

-- name: find_stale_leases
-- ?1 skew in microseconds, ?2 limit.
SELECT id
  FROM rowlock_lease
 WHERE expires_at + ?1 <= :now_us OR expires_at > :now_us + ttl_ms * 1000 + ?1
 LIMIT ?2;

-- name: find_stale_names
-- A page of at most ?2 locks after the name ?1, each with whether it names a missing lease, as holder or in the
-- queue, and whether there may be more locks. The permits of a latch outlive their leases.
SELECT k.name, count(*) OVER () = ?2 AS more,
       k.lease_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rowlock_lease l WHERE l.id = k.lease_id)
       OR k.has_queue AND EXISTS (SELECT 1
                                    FROM rowlock_queue q
                                    LEFT JOIN rowlock_lease w ON w.id = q.lease_id
                                   WHERE q.name = k.name AND w.id IS NULL)
       OR k.kind <> 'latch' AND EXISTS (SELECT 1
                                          FROM rowlock_permit p
                                          LEFT JOIN rowlock_lease h ON h.id = p.lease_id
                                         WHERE p.name = k.name AND h.id IS NULL) AS is_stale
  FROM (SELECT name, kind, lease_id, has_queue
          FROM rowlock_lock
         WHERE name > ?1
         ORDER BY name
         LIMIT ?2) k
 ORDER BY k.name;
