-- ?1 in seconds; a library of version 1 reads the other one.
UPDATE rowlock_meta SET epoch_s = ?1, epoch = max(epoch, ?1 / 64) WHERE id = 1;
