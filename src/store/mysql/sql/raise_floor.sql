-- Whoever creates one of the names again begins above this.
UPDATE rowlock_meta SET token_floor = GREATEST(token_floor, :token) WHERE id = 1;
