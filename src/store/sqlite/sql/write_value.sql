UPDATE rowlock_lock SET value = ?2 WHERE name = ?1;
