-- Records this server, or this start of a node of a cluster, at :up_since. The row is held.
UPDATE rowlock_meta
SET identity = :identity, cluster_seen = GREATEST(:up_since, UNIX_TIMESTAMP(SYSDATE()))
WHERE id = 1;
