-- The places in :locks, [name, kind, capacity, fair, delay], of those that do not exist. Waits for no row.
SELECT a.n
FROM JSON_TABLE(:locks, '$[*]' COLUMNS (n FOR ORDINALITY, name VARCHAR(1024) PATH '$[0]')) AS a
LEFT JOIN rowlock_lock AS l ON l.name = UNHEX(a.name)
WHERE l.name IS NULL;
