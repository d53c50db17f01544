-- $1 the token that the next one of every name must exceed.
UPDATE rowlock_meta
SET epoch = greatest(epoch + 1,
                     floor(extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') / 60)::bigint,
                     ($1::bigint >> 27) + 1)
WHERE id = 1
RETURNING epoch;
