INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id, weight, mode) VALUES (?1, ?2, ?3, ?4, ?5, ?6);
