-- :asked as [name, about]. Locks what nobody else has locked, and remembers which of them.
SELECT COALESCE(GROUP_CONCAT(t.n), '') INTO @rowlock_taken
FROM (
  SELECT a.n
  FROM JSON_TABLE(:asked, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
  STRAIGHT_JOIN rowlock_lock AS k FORCE INDEX (PRIMARY) ON k.name = UNHEX(a.name)
  LIMIT 1000000
  FOR UPDATE SKIP LOCKED
) AS t;
