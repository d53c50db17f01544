-- :locks as [name, kind, capacity, fair, delay], sorted: two that create the same names wait for each other in one
-- direction only. The share lock on meta comes before the first row: no collection can raise the floor and delete the
-- same name in between. A name that somebody else has made meanwhile is left as it is.
INSERT INTO rowlock_lock (name, kind, capacity, fair, delay_ms, token, used_at)
SELECT UNHEX(a.name), a.kind, a.capacity, a.fair, a.delay_ms, GREATEST(m.token_floor, m.epoch_floor), SYSDATE(6)
FROM rowlock_meta AS m
STRAIGHT_JOIN JSON_TABLE(:locks, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', kind VARCHAR(32) PATH '$[1]',
                                                 capacity BIGINT PATH '$[2]', fair TINYINT PATH '$[3]',
                                                 delay_ms BIGINT PATH '$[4]')) AS a
WHERE m.id = 1
LOCK IN SHARE MODE
ON DUPLICATE KEY UPDATE rowlock_lock.capacity = rowlock_lock.capacity;
