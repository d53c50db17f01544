-- :noticed, leases whose owners must check their holds. The one place where a holder of lock rows waits: a renewal
-- holds its lease for one statement and waits for no lock row, and a notice must not be skipped.
UPDATE JSON_TABLE(:noticed, '$[*]' COLUMNS (id VARCHAR(32) PATH '$')) AS a
STRAIGHT_JOIN rowlock_lease AS l FORCE INDEX (PRIMARY) ON l.id = UNHEX(a.id)
SET l.notice = l.notice + 1;
