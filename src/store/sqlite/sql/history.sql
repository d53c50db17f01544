-- name: recordings
SELECT pattern, keep, age_h FROM rowlock_recording ORDER BY pattern;

-- name: start_recording
INSERT INTO rowlock_recording (pattern, keep, age_h) VALUES (?1, ?2, ?3)
ON CONFLICT (pattern) DO UPDATE SET keep = excluded.keep, age_h = excluded.age_h;

-- name: stop_recording
DELETE FROM rowlock_recording WHERE pattern = ?1;

-- name: change_recordings
UPDATE rowlock_meta SET recordings = recordings + 1 WHERE id = 1;

-- name: edit_history
-- ?1 name, ?2 event, ?3 token, ?4 hold, ?5 lease, ?6 detail.
INSERT INTO rowlock_history
  (name, id, happened_at, event, token, hold_id, lease_id, detail, host, username, pid, application, program)
SELECT ?1, (SELECT coalesce(max(o.id), 0) + 1 FROM rowlock_history o WHERE o.name = ?1), :now_us, ?2, ?3, ?4, ?5, ?6,
       coalesce(l.host, ''), coalesce(l.username, ''), coalesce(l.pid, 0), coalesce(l.application, ''),
       coalesce(l.program, '')
  FROM (SELECT 1) one
  LEFT JOIN rowlock_lease l ON l.id = ?5;

-- name: read_history
-- ?1 name, ?2 before which line, ?3 limit.
SELECT id, event, token, hold_id, lease_id, detail, host, username, pid, application, program,
       :now_us - happened_at AS ago_time
  FROM rowlock_history
 WHERE name = ?1
   AND id < ?2
 ORDER BY id DESC
 LIMIT ?3;

-- name: prune_history
-- ?1 name, ?2 how many lines stay, ?3 hours, ?4 limit.
DELETE FROM rowlock_history
 WHERE name = ?1
   AND id IN (SELECT id
                FROM rowlock_history
               WHERE name = ?1
                 AND id <= max(coalesce((SELECT id
                                           FROM rowlock_history
                                          WHERE name = ?1
                                          ORDER BY id DESC
                                          LIMIT 1 OFFSET ?2), 0),
                               coalesce((SELECT max(id)
                                           FROM rowlock_history
                                          WHERE name = ?1
                                            AND happened_at < :now_us - ?3 * 3600000000), 0))
               ORDER BY id
               LIMIT ?4);

-- name: names_with_history
SELECT DISTINCT name FROM rowlock_history WHERE name > ?1 ORDER BY name LIMIT ?2;
