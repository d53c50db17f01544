-- :epoch the least that it must become.
UPDATE rowlock_meta
SET epoch = LAST_INSERT_ID(GREATEST(epoch + 1, TIMESTAMPDIFF(MINUTE, '2026-01-01', SYSDATE(6)), :epoch))
WHERE id = 1;
