SELECT ticket, lease_id, weight, mode FROM rowlock_queue WHERE name = ?1 AND hold_id = ?2;
