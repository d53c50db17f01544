UPDATE rowlock_meta SET skew_ms = :skew_ms WHERE id = 1;
