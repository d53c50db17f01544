-- :noticed, leases whose owners must check their holds. Not skipped: where one is locked, the whole edit is made again.
UPDATE JSON_TABLE(:noticed, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.notice = l.notice + 1;
