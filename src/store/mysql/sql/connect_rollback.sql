-- Ends a transaction that init_connect has begun, and forgets what it has set for the next one.
ROLLBACK AND NO CHAIN NO RELEASE;
