-- name: recordings
SELECT pattern, keep, age_h FROM rowlock_recording ORDER BY pattern;

-- name: start_recording
-- $1 pattern, $2 how many lines, $3 hours.
WITH changed AS (
  INSERT INTO rowlock_recording AS r (pattern, keep, age_h)
  VALUES ($1::text, $2::bigint, $3::bigint)
  ON CONFLICT (pattern) DO UPDATE SET keep = excluded.keep, age_h = excluded.age_h
  RETURNING r.pattern
)
UPDATE rowlock_meta SET recordings = recordings + (SELECT count(*) FROM changed) WHERE id = 1;

-- name: stop_recording
-- $1 pattern.
WITH gone AS (
  DELETE FROM rowlock_recording WHERE pattern = $1::text RETURNING pattern
)
UPDATE rowlock_meta SET recordings = recordings + 1 WHERE id = 1 AND (SELECT count(*) FROM gone) > 0;

-- name: edit_history
-- $1 names, $2 places in the change, $3 events, $4 tokens, $5 holds, $6 leases, $7 details. This transaction has locked
-- the rows of the locks, so nobody else adds lines to these names; it waits for nobody.
INSERT INTO rowlock_history
  (name, id, event, token, hold_id, lease_id, detail, host, username, pid, application, program)
SELECT a.name, latest.id + a.place, a.event, a.token, a.hold_id, a.lease_id, a.detail,
       coalesce(h.host, ''), coalesce(h.username, ''), coalesce(h.pid, 0), coalesce(h.application, ''),
       coalesce(h.program, '')
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::uuid[], $6::uuid[], $7::text[])
  AS a (name, place, event, token, hold_id, lease_id, detail)
CROSS JOIN LATERAL (
  SELECT coalesce(max(o.id), 0) AS id FROM rowlock_history AS o WHERE o.name = a.name OFFSET 0
) AS latest
LEFT JOIN rowlock_lease AS h ON h.id = a.lease_id;

-- name: read_history
-- $1 name, $2 before which line, $3 limit.
SELECT id, event, token, hold_id, lease_id, detail, host, username, pid, application, program,
       (extract(epoch FROM clock_timestamp() - happened_at) * 1000)::bigint AS ago_time
FROM rowlock_history
WHERE name = $1::text AND id < $2::bigint
ORDER BY id DESC
LIMIT $3::bigint;

-- name: prune_history
-- $1 name, $2 how many lines stay, $3 hours, $4 limit.
WITH cut AS MATERIALIZED (
  SELECT greatest(
    (SELECT id FROM rowlock_history WHERE name = $1::text ORDER BY id DESC OFFSET $2::bigint LIMIT 1),
    (SELECT max(id) FROM rowlock_history
     WHERE name = $1::text AND happened_at < clock_timestamp() - $3::bigint * interval '1 hour')) AS id
),
gone AS MATERIALIZED (
  SELECT o.id
  FROM rowlock_history AS o, cut
  WHERE o.name = $1::text AND o.id <= cut.id
  ORDER BY o.id
  LIMIT $4::bigint
  FOR UPDATE OF o SKIP LOCKED
)
DELETE FROM rowlock_history AS h
USING gone
WHERE h.name = $1::text AND h.id = gone.id;

-- name: names_with_history
-- $1 after which name, $2 limit. One look-up in the index for each name.
WITH RECURSIVE names AS (
  SELECT (SELECT min(name) FROM rowlock_history WHERE name > $1::text) AS name, 1 AS n
  UNION ALL
  SELECT (SELECT min(o.name) FROM rowlock_history AS o WHERE o.name > names.name), n + 1
  FROM names
  WHERE names.name IS NOT NULL AND n < $2::bigint
)
SELECT name FROM names WHERE name IS NOT NULL ORDER BY name;

-- name: check_history
-- Writes nothing, and fails if the right is missing.
INSERT INTO rowlock_history
SELECT * FROM rowlock_history WHERE false;
