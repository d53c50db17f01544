DELETE FROM rowlock_permit WHERE name = ?1 AND hold_id = ?2;
