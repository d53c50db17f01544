-- As notify; a lease that is locked is error 1205 at once. MariaDB only.
SET STATEMENT innodb_lock_wait_timeout = 0 FOR
UPDATE JSON_TABLE(:woken, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.wakes = l.wakes + 1;
