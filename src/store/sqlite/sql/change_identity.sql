UPDATE rowlock_meta SET identity = ?1 WHERE id = 1;
