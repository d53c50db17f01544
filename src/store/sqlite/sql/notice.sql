UPDATE rowlock_lease SET notice = notice + 1 WHERE id = ?1;
