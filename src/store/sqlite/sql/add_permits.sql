INSERT INTO rowlock_permit (name, hold_id, lease_id, weight, token, granted_at)
VALUES (?1, ?2, ?3, ?4, ?5, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));
