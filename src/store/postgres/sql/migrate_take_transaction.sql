-- As migrate_take, until the transaction ends: $1 prefix.
SELECT pg_advisory_xact_lock(hashtextextended('rowlock migrate ' || current_schema() || '.' || $1::text, 0));
