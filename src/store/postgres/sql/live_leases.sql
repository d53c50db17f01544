SELECT count(*) FROM rowlock_lease WHERE expires_at > clock_timestamp();
