UPDATE rowlock_meta SET token_floor = max(token_floor, ?1) WHERE id = 1;
