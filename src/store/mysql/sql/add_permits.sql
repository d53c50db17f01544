-- :added as [name, hold, lease, weight, token].
INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
SELECT UNHEX(a.name), UNHEX(a.hold), UNHEX(a.lease), a.weight, a.token, SYSDATE(6)
FROM JSON_TABLE(:added, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', hold VARCHAR(32) PATH '$[1]',
                                        lease VARCHAR(32) PATH '$[2]', weight BIGINT PATH '$[3]',
                                        token BIGINT PATH '$[4]')) AS a;
