-- What tells whether this is still the database that it was.
SELECT identity, epoch, coalesce((SELECT value FROM rowlock_marker WHERE id = 1), '')
  FROM rowlock_meta
 WHERE id = 1;
