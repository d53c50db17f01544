-- Lets one transaction at a time decide about the world.
SELECT identity, epoch_floor, TIMESTAMPDIFF(SECOND, '2026-01-01', SYSDATE(6)), cluster_seen
FROM rowlock_meta
WHERE id = 1
FOR UPDATE;
