-- Records this server, or this start of a node of a cluster, in the second :up_since. The row is held. What is started in
-- the second that is written counts as started later.
UPDATE rowlock_meta
SET identity = :identity, cluster_seen = GREATEST(:up_since + 1, UNIX_TIMESTAMP(SYSDATE()))
WHERE id = 1;
