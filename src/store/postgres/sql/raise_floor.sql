-- Whoever creates one of the names again begins above this.
UPDATE rowlock_meta
SET token_floor = greatest(
  token_floor, (SELECT max(token) FROM rowlock_lock WHERE name = ANY (current_setting('rowlock.rows')::text[])))
WHERE id = 1;
