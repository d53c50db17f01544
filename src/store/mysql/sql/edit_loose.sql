-- Which permits of :names no guarded transaction relies on, as the place of the name and the hold. They are locked, so
-- that none will until this transaction ends.
SELECT a.n, HEX(p.hold_id)
FROM JSON_TABLE(:names, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$')) AS a
STRAIGHT_JOIN rowlock_permit AS p FORCE INDEX (PRIMARY) ON p.name = UNHEX(a.name)
FOR UPDATE SKIP LOCKED;
