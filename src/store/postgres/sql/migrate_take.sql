-- $1 prefix. One migrator at a time on these tables, in whatever schema they are.
SELECT pg_advisory_lock(hashtextextended('rowlock migrate ' || current_schema() || '.' || $1::text, 0));
