-- $1 name, $2 token, $3 milliseconds, $4 reason. Somebody asks for the lock; this transaction holds the row.
UPDATE rowlock_lock
SET request_token = $2::bigint,
    request_until = clock_timestamp() + $3::bigint * interval '1 millisecond',
    request_reason = $4::text
WHERE name = $1::text;
