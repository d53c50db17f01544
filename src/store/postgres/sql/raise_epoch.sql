-- $1 the epoch, in seconds; a library of version 1 reads the other one. The row is held.
UPDATE rowlock_meta SET epoch_s = $1::bigint, epoch = greatest(epoch, $1::bigint / 64) WHERE id = 1;
