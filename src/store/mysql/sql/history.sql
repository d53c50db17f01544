-- name: recordings
SELECT pattern, keep, age_h FROM rowlock_recording ORDER BY pattern;

-- name: start_recording
INSERT INTO rowlock_recording (pattern, keep, age_h) VALUES (:pattern, :keep, :age_h)
ON DUPLICATE KEY UPDATE keep = :keep, age_h = :age_h;

-- name: stop_recording
DELETE FROM rowlock_recording WHERE pattern = :pattern;

-- name: change_recordings
UPDATE rowlock_meta SET recordings = recordings + 1 WHERE id = 1;

-- name: edit_history
-- :rows as [name, place in the change, event, token, hold, lease, detail]. This transaction has locked the rows of the
-- locks, so nobody else adds lines to these names.
INSERT INTO rowlock_history
  (name, id, happened_at, event, token, hold_id, lease_id, detail, host, username, pid, application, program)
SELECT UNHEX(a.name),
       COALESCE((SELECT MAX(o.id) FROM rowlock_history AS o WHERE o.name = UNHEX(a.name)), 0) + a.place,
       SYSDATE(6), a.event, a.token, UNHEX(a.hold), UNHEX(a.lease), UNHEX(a.detail),
       COALESCE(h.host, ''), COALESCE(h.username, ''), COALESCE(h.pid, 0), COALESCE(h.application, ''),
       COALESCE(h.program, '')
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', place BIGINT PATH '$[1]',
                                       event VARCHAR(32) PATH '$[2]', token BIGINT PATH '$[3]',
                                       hold VARCHAR(32) PATH '$[4]', lease VARCHAR(32) PATH '$[5]',
                                       detail VARCHAR(4096) PATH '$[6]')) AS a
LEFT JOIN rowlock_lease AS h ON h.id = UNHEX(a.lease);

-- name: read_history
SELECT id, event, token, HEX(hold_id) AS hold_id, HEX(lease_id) AS lease_id, detail, host, username, pid, application,
       program, FLOOR(TIMESTAMPDIFF(MICROSECOND, happened_at, SYSDATE(6)) / 1000) AS ago_time
FROM rowlock_history
WHERE name = :name AND id < :before
ORDER BY id DESC
LIMIT :most;

-- name: find_old_history
-- The latest line that is too many or too old.
SELECT GREATEST(
  COALESCE((SELECT id FROM rowlock_history WHERE name = :name ORDER BY id DESC LIMIT 1 OFFSET :keep), 0),
  COALESCE((SELECT MAX(id) FROM rowlock_history
            WHERE name = :name AND happened_at < SYSDATE(6) - INTERVAL :age_h HOUR), 0)) AS id;

-- name: prune_history
DELETE FROM rowlock_history WHERE name = :name AND id <= :cut ORDER BY id LIMIT :most;

-- name: names_with_history
SELECT DISTINCT name FROM rowlock_history WHERE name > :after ORDER BY name LIMIT :most;

-- name: check_history
-- Writes nothing, and fails if the right is missing.
INSERT INTO rowlock_history
SELECT * FROM rowlock_history AS o WHERE FALSE;
