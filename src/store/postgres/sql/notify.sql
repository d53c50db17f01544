-- $1 channels, $2 a payload each: the hold that was granted, or nothing. NOTIFY holds a lock of the whole server while it
-- commits, so the commit does not wait for the disk.
SELECT pg_notify(channel, payload), set_config('synchronous_commit', 'off', true)
FROM unnest($1::text[], $2::text[]) AS word (channel, payload);
