-- name: release
-- name: release_ending
-- Frees a batch. $1 names, $2 leases, $3 holds (arrays as in acquire), $4 synchronous_commit for this commit alone;
-- release_ending: $5 those of the leases that end with their holds.
-- Unlike the lock that acquire takes, FOR UPDATE conflicts with the FOR KEY SHARE of a guarded transaction: such a
-- row is skipped and its hold stays. The last SELECT runs for every freed row, so the setting cannot be left out.
-- A lease ends only with a hold that was freed. Its row is locked after the locks' rows, so it is not waited for: a
-- lease that is skipped is being killed, or expires by itself.
WITH taken AS MATERIALIZED (
  SELECT l.ctid AS place, l.lease_id, a.hold_id
  FROM rowlock_lock AS l
  JOIN unnest($1::text[], $2::uuid[], $3::uuid[]) AS a (name, lease_id, hold_id)
    ON l.name = a.name AND l.lease_id = coalesce(a.lease_id, ($2::uuid[])[1]) AND l.hold_id = a.hold_id
  WHERE NOT (l.has_queue AND l.fair)
  ORDER BY l.name
  FOR UPDATE OF l SKIP LOCKED
),
freed AS (
  UPDATE rowlock_lock AS l
  SET lease_id = NULL,
      hold_id = NULL,
      in_use = 0
  FROM taken AS t
  WHERE l.ctid = t.place
    AND l.lease_id = t.lease_id
    AND l.hold_id = t.hold_id
    AND NOT (l.has_queue AND l.fair)
  RETURNING t.hold_id, t.lease_id
)
-- only: release_ending , ended AS (
-- only: release_ending   DELETE FROM rowlock_lease AS l
-- only: release_ending   WHERE l.id = ANY (ARRAY (
-- only: release_ending     SELECT k.id
-- only: release_ending     FROM rowlock_lease AS k
-- only: release_ending     WHERE k.id = ANY (ARRAY (
-- only: release_ending       SELECT f.lease_id FROM freed AS f WHERE f.lease_id = ANY ($5::uuid[])
-- only: release_ending     ))
-- only: release_ending     ORDER BY k.id
-- only: release_ending     FOR UPDATE SKIP LOCKED
-- only: release_ending   ))
-- only: release_ending )
SELECT hold_id, set_config('synchronous_commit', $4::text, true)
FROM freed;

-- name: release_one
-- As release, for a single request whose lease stays: $1 name, $2 lease, $3 hold, $4 synchronous_commit.
UPDATE rowlock_lock AS l
SET lease_id = NULL,
    hold_id = NULL,
    in_use = 0
WHERE l.ctid = (
    SELECT ctid
    FROM rowlock_lock
    WHERE name = $1::text AND lease_id = $2::uuid AND hold_id = $3::uuid AND NOT (has_queue AND fair)
    FOR UPDATE SKIP LOCKED
  )
  AND l.lease_id = $2::uuid
  AND l.hold_id = $3::uuid
  AND NOT (l.has_queue AND l.fair)
RETURNING $3::uuid AS hold_id, set_config('synchronous_commit', $4::text, true);

-- name: release_shared
-- name: release_shared_ending
-- Frees a batch of permits. $1 names, $2 leases, $3 holds (arrays as in acquire, where a name may occur more than
-- once), $4 synchronous_commit for this commit alone; release_shared_ending: $5 as in release_ending.
-- NO KEY UPDATE of the lock's row does not conflict with the FOR KEY SHARE of a guarded transaction. FOR UPDATE of
-- the permit conflicts with the guard of that permit: the permit is skipped, and others beside it are freed. A
-- guarded permit counts in in_use, so nobody can get the lock exclusively.
-- in_use loses only what the DELETE took. The DELETE takes nothing if the lock's row was written after this
-- statement's snapshot, because neither the row's new version nor its permits are in the snapshot. So DELETE and
-- UPDATE see the newest row, which is locked, and its permits. If two statements release the same hold, the later
-- one skips the row or finds that it has moved. The last SELECT runs for every freed permit, so the setting cannot be
-- left out.
WITH taken AS MATERIALIZED (
  SELECT l.ctid AS place, l.name
  FROM rowlock_lock AS l
  WHERE l.name = ANY ($1::text[]) AND NOT (l.has_queue AND l.fair)
  ORDER BY l.name
  FOR NO KEY UPDATE OF l SKIP LOCKED
),
loose AS MATERIALIZED (
  SELECT p.permit, t.place
  FROM taken AS t
  JOIN rowlock_lock AS l ON l.ctid = t.place AND NOT (l.has_queue AND l.fair)
  JOIN unnest($1::text[], $2::uuid[], $3::uuid[]) AS a (name, lease_id, hold_id)
    ON coalesce(a.name, ($1::text[])[1]) = t.name
  CROSS JOIN LATERAL (
    SELECT g.ctid AS permit
    FROM rowlock_permit AS g
    WHERE g.name = t.name AND g.hold_id = a.hold_id AND g.lease_id = coalesce(a.lease_id, ($2::uuid[])[1])
    FOR UPDATE SKIP LOCKED
  ) AS p
),
freed AS (
  DELETE FROM rowlock_permit AS p
  USING loose AS f
  WHERE p.ctid = f.permit
  RETURNING f.place, p.hold_id, p.lease_id, p.weight
),
counted AS (
  UPDATE rowlock_lock AS l
  SET in_use = l.in_use - f.weight
  FROM (SELECT place, sum(weight)::bigint AS weight FROM freed GROUP BY place) AS f
  WHERE l.ctid = f.place
)
-- only: release_shared_ending , ended AS (
-- only: release_shared_ending   DELETE FROM rowlock_lease AS l
-- only: release_shared_ending   WHERE l.id = ANY (ARRAY (
-- only: release_shared_ending     SELECT k.id
-- only: release_shared_ending     FROM rowlock_lease AS k
-- only: release_shared_ending     WHERE k.id = ANY (ARRAY (
-- only: release_shared_ending       SELECT f.lease_id FROM freed AS f WHERE f.lease_id = ANY ($5::uuid[])
-- only: release_shared_ending     ))
-- only: release_shared_ending     ORDER BY k.id
-- only: release_shared_ending     FOR UPDATE SKIP LOCKED
-- only: release_shared_ending   ))
-- only: release_shared_ending )
SELECT hold_id, set_config('synchronous_commit', $4::text, true)
FROM freed;

-- name: release_shared_one
-- As release_shared, for a single request whose lease stays: $1 name, $2 lease, $3 hold, $4 synchronous_commit.
WITH taken AS MATERIALIZED (
  SELECT ctid AS place
  FROM rowlock_lock
  WHERE name = $1::text AND NOT (has_queue AND fair)
  FOR NO KEY UPDATE SKIP LOCKED
),
loose AS MATERIALIZED (
  SELECT p.ctid AS permit
  FROM rowlock_permit AS p
  WHERE p.name = $1::text
    AND p.hold_id = $3::uuid
    AND p.lease_id = $2::uuid
    AND EXISTS (
      SELECT FROM rowlock_lock AS l WHERE l.ctid = (SELECT place FROM taken) AND NOT (l.has_queue AND l.fair)
    )
  FOR UPDATE SKIP LOCKED
),
freed AS (
  DELETE FROM rowlock_permit AS p
  WHERE p.ctid = (SELECT permit FROM loose)
  RETURNING p.weight
)
UPDATE rowlock_lock AS l
SET in_use = l.in_use - f.weight
FROM freed AS f
WHERE l.ctid = (SELECT place FROM taken)
RETURNING $3::uuid AS hold_id, set_config('synchronous_commit', $4::text, true);

-- name: hand_over_take
-- $1 name, $2 lease, $3 hold. Locks a mutex, shared_mutex or election that is held as given and has waiters, and
-- remembers that it did. FOR UPDATE conflicts with the FOR KEY SHARE of a guarded transaction: such a row is skipped
-- and its hold stays. A sub-query locks the row, because expressions beside FOR UPDATE are evaluated before the lock
-- is taken.
SELECT set_config('rowlock.taken', $3::text, true)
FROM (
  SELECT
  FROM rowlock_lock
  WHERE name = $1::text AND lease_id = $2::uuid AND hold_id = $3::text::uuid AND has_queue
    AND kind IN ('mutex', 'shared_mutex', 'election')
  FOR UPDATE SKIP LOCKED
) AS taken;

-- name: hand_over
-- Grants the lock of hand_over_take to the first waiter: $1 name, $2 the hold that ends, $3 skew in microseconds.
-- An earlier statement has locked the row, and a queue changes only under its lock's row, so what is read here is
-- current. A first waiter that is dead, expired or shared is left to an edit; so is a database that does not name
-- this server. Remembers the result for the statements that follow, beyond the commit.
UPDATE rowlock_lock AS l
SET lease_id = q.lease_id,
    hold_id = q.hold_id,
    token = greatest(l.token + 1, m.epoch_floor, m.token_floor),
    head_ticket = q.ticket + 1,
    has_queue = EXISTS (SELECT FROM rowlock_queue AS r WHERE r.name = $1::text AND r.ticket > q.ticket),
    used_at = clock_timestamp()
FROM rowlock_queue AS q, rowlock_lease AS h, rowlock_meta AS m
WHERE l.name = $1::text
  AND current_setting('rowlock.taken', true) = $2::text
  AND q.name = $1::text
  AND q.ticket = (
    SELECT ticket FROM rowlock_queue WHERE name = $1::text AND ticket >= l.head_ticket ORDER BY ticket LIMIT 1
  )
  AND q.mode = 'exclusive'
  AND h.id = q.lease_id
  AND h.expires_at + $3::bigint * interval '1 microsecond' > clock_timestamp()
  AND m.id = 1
  AND m.identity = current_setting('rowlock.system', true) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
RETURNING set_config('rowlock.handed',
                     concat_ws(' ', $2::text, l.hold_id, replace(h.client_id::text, '-', ''), l.token, l.has_queue),
                     false);

-- name: hand_over_dequeue
-- Removes the waiter that hand_over made the holder from the queue: $1 name, $2 the hold that ended.
DELETE FROM rowlock_queue
WHERE name = $1::text
  AND hold_id = CASE WHEN split_part(current_setting('rowlock.handed', true), ' ', 1) = $2::text
                     THEN nullif(split_part(current_setting('rowlock.handed', true), ' ', 2), '')::uuid END;

-- name: hand_over_wake
-- Returns what hand_over did for the hold $1, and wakes the client that was granted the lock, unless that is the
-- releaser, $2; $3 is the prefix of the channels. It runs after the commit of hand_over, because NOTIFY holds a lock
-- of the whole server while it commits; so this commit does not wait for the disk. The payload names the waiter.
SELECT words[2] AS granted, words[3] AS client, words[4] AS token, words[5] AS has_queue,
       CASE WHEN words[3] <> $2::text THEN pg_notify($3::text || words[3], words[2]) END,
       set_config('rowlock.handed', '', false),
       set_config('synchronous_commit', 'off', true)
FROM string_to_array(current_setting('rowlock.handed', true), ' ') AS words
WHERE words[1] = $1::text;
