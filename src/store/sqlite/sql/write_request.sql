-- ?2 token, ?3 milliseconds, ?4 reason.
UPDATE rowlock_lock
   SET request_token = ?2,
       request_until = CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) + ?3 * 1000,
       request_reason = ?4
 WHERE name = ?1;
