INSERT INTO rowlock_queue (name, ticket, hold_id, lease_id) VALUES (?1, ?2, ?3, ?4);
