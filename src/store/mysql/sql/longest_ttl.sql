SELECT COALESCE(MAX(ttl_ms), 0) FROM rowlock_lease;
