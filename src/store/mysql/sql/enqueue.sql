-- :enqueue as [name, ticket, hold, lease].
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id)
SELECT UNHEX(a.name), a.ticket, UNHEX(a.hold), UNHEX(a.lease)
FROM JSON_TABLE(:enqueue, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', ticket BIGINT PATH '$[1]',
                                          hold VARCHAR(32) PATH '$[2]', lease VARCHAR(32) PATH '$[3]')) AS a;
