-- $1 channels. NOTIFY holds a lock of the whole server while it commits, so the commit does not wait for the disk.
SELECT pg_notify(channel, ''), set_config('synchronous_commit', 'off', true) FROM unnest($1::text[]) AS channel;
