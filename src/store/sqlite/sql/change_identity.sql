-- 1767225600 is 2026-01-01; epochs are minutes since then.
UPDATE rowlock_meta
   SET identity = ?1,
       epoch = max(epoch + 1, CAST((julianday('now') - 2440587.5) * 1440.0 - 1767225600 / 60 AS INTEGER))
 WHERE id = 1;
