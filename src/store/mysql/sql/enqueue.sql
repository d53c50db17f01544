-- :enqueue as [name, ticket, hold, lease, weight, mode].
INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode)
SELECT UNHEX(a.name), a.ticket, UNHEX(a.hold), UNHEX(a.lease), a.weight, a.mode
FROM JSON_TABLE(:enqueue, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', ticket BIGINT PATH '$[1]',
                                          hold VARCHAR(32) PATH '$[2]', lease VARCHAR(32) PATH '$[3]',
                                          weight BIGINT PATH '$[4]', mode VARCHAR(32) PATH '$[5]')) AS a;
