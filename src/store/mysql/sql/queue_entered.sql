-- What queue_enter left: microseconds until the holder's lease may be killed.
SELECT @rowlock_takeover;
