-- Tells what hand_over did for the hold $1, and wakes whom it granted the lock, unless that is $2, the releaser; $3 the
-- channels' prefix. Runs after its commit, for NOTIFY holds a lock of the whole server while it commits; so this commit
-- does not wait for the disk. The payload names the waiter.
SELECT words[2] AS granted, words[3] AS client, words[4] AS token, words[5] AS has_queue,
       CASE WHEN words[3] <> $2::text THEN pg_notify($3::text || words[3], words[2]) END,
       set_config('rowlock.handed', '', false),
       set_config('synchronous_commit', 'off', true)
FROM string_to_array(current_setting('rowlock.handed', true), ' ') AS words
WHERE words[1] = $1::text;
