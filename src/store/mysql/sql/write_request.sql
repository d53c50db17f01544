-- Somebody asks for the lock; this transaction holds the row.
UPDATE rowlock_lock
SET request_token = :token,
    request_until = SYSDATE(6) + INTERVAL :within_ms * 1000 MICROSECOND,
    request_reason = :reason
WHERE name = :name;
