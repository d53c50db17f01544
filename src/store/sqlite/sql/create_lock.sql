-- WHERE tells the parser that ON CONFLICT belongs to the INSERT.
INSERT INTO rowlock_lock (name, kind, capacity, fair, delay_ms, token, used_at)
SELECT ?1, ?2, ?3, ?4, ?5, max(token_floor, epoch_floor),
       CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)
  FROM rowlock_meta
 WHERE id = 1
ON CONFLICT (name) DO NOTHING;
