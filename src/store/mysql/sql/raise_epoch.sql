-- :epoch in seconds; a library of version 1 reads the other one. The row is held.
UPDATE rowlock_meta SET epoch_s = :epoch, epoch = GREATEST(epoch, :epoch DIV 64) WHERE id = 1;
