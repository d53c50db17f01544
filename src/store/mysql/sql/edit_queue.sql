-- The head of the queue of one lock that this transaction holds, from the ticket :head on.
SELECT q.ticket, HEX(q.lease_id), HEX(q.hold_id), HEX(h.client_id),
       TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), h.expires_at), q.weight, q.mode
FROM (
  SELECT w.ticket, w.lease_id, w.hold_id, w.weight, w.mode
  FROM rowlock_queue AS w FORCE INDEX (PRIMARY)
  WHERE w.name = :name AND w.ticket >= :head
  ORDER BY w.ticket
  LIMIT 65
) AS q
LEFT JOIN rowlock_lease AS h ON h.id = q.lease_id
ORDER BY q.ticket;
