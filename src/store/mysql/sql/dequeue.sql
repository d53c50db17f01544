-- :dequeue as [name, hold].
DELETE q
FROM JSON_TABLE(:dequeue, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]')) AS a
STRAIGHT_JOIN rowlock_queue AS q FORCE INDEX (rowlock_queue_hold)
  ON q.name = UNHEX(a.name) AND q.hold_id = UNHEX(a.hold);
