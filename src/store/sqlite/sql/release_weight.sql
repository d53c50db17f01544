UPDATE rowlock_lock SET in_use = in_use - ?2 WHERE name = ?1;
