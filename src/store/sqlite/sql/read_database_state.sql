-- What tells whether this is still the database that it was.
SELECT identity, epoch_floor, coalesce((SELECT value FROM rowlock_marker WHERE id = 1), ''), skew_ms
  FROM rowlock_meta
 WHERE id = 1;
