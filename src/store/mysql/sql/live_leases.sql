SELECT COUNT(*) FROM rowlock_lease WHERE expires_at > SYSDATE(6);
