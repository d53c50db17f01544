-- Sent again after a lost answer it renews; a lease that expired meanwhile stays as it is, and the inserted id is
-- then 2.
INSERT INTO rowlock_lease (id, client_id, host, pid, application, ttl_ms, created_at, expires_at)
VALUES (UNHEX(:lease), UNHEX(:client), LEFT(:host, 255), :pid, LEFT(:application, 1024), :ttl_ms, SYSDATE(6),
        SYSDATE(6) + INTERVAL :ttl_ms * 1000 MICROSECOND)
ON DUPLICATE KEY UPDATE
  expires_at = IF(LAST_INSERT_ID(IF(expires_at > SYSDATE(6), 1, 2)) = 1,
                  SYSDATE(6) + INTERVAL ttl_ms * 1000 MICROSECOND, expires_at);
