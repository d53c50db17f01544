UPDATE rowlock_meta
   SET epoch = max(epoch + 1, ?1, CAST((julianday('now') - 2440587.5) * 1440.0 - 1767225600 / 60 AS INTEGER))
 WHERE id = 1
RETURNING epoch;
