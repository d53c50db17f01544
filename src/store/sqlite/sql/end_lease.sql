DELETE FROM rowlock_lease WHERE id = ?1;
