-- $1 name, $2 value. What the holder of an office proclaims; this transaction holds the row.
UPDATE rowlock_lock SET value = $2::text WHERE name = $1::text;
