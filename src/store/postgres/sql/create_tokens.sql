-- $1 names. A later statement than the INSERT, for only then is the floor of a collection seen that had
-- deleted the same name while the INSERT waited for it. Only rows of this transaction have no token yet.
UPDATE rowlock_lock AS l
SET token = greatest(m.token_floor, m.epoch_floor)
FROM rowlock_meta AS m
WHERE l.name = ANY ($1::text[]) AND l.token = 0 AND m.id = 1;
