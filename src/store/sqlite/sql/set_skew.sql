UPDATE rowlock_meta SET skew_ms = ?1 WHERE id = 1;
