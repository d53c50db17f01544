-- Records this server and raises the epoch. Minutes count from 2026-01-01, so that two replicas promoted from one
-- primary differ.
UPDATE rowlock_meta
SET identity = :identity,
    epoch = GREATEST(epoch + 1, TIMESTAMPDIFF(MINUTE, '2026-01-01', SYSDATE(6)))
WHERE id = 1;
