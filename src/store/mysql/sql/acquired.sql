-- Which of :requests hold their lock now.
SELECT HEX(l.hold_id), l.token
FROM JSON_TABLE(:requests, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[4]')) AS a
STRAIGHT_JOIN rowlock_lock AS l ON l.name = UNHEX(a.name) AND l.hold_id = UNHEX(a.hold);
