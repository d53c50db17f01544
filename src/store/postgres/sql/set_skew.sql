-- $1 milliseconds.
UPDATE rowlock_meta SET skew_ms = $1::bigint WHERE id = 1;
