-- :rows as [name, capacity, in_use, token, next_ticket, lease, hold, has_queue, granted, head_ticket], all of which this
-- transaction holds. A lock keeps its kind.
UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(1024) PATH '$[0]', capacity BIGINT PATH '$[1]',
                                         in_use BIGINT PATH '$[2]', token BIGINT PATH '$[3]',
                                         next_ticket BIGINT PATH '$[4]', lease VARCHAR(32) PATH '$[5]',
                                         hold VARCHAR(32) PATH '$[6]', has_queue TINYINT PATH '$[7]',
                                         granted TINYINT PATH '$[8]', head_ticket BIGINT PATH '$[9]')) AS a
STRAIGHT_JOIN rowlock_lock AS l FORCE INDEX (PRIMARY) ON l.name = UNHEX(a.name)
SET l.capacity = a.capacity,
    l.in_use = a.in_use,
    l.token = a.token,
    l.next_ticket = a.next_ticket,
    l.lease_id = UNHEX(NULLIF(a.lease, '')),
    l.hold_id = UNHEX(NULLIF(a.hold, '')),
    l.has_queue = a.has_queue,
    l.head_ticket = a.head_ticket,
    l.used_at = IF(a.granted, SYSDATE(6), l.used_at);
