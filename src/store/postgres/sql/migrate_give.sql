-- $1 prefix.
SELECT pg_advisory_unlock(hashtextextended('rowlock migrate ' || current_schema() || '.' || $1::text, 0));
