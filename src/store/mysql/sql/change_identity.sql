-- Records this server. The row is held.
UPDATE rowlock_meta SET identity = :identity WHERE id = 1;
