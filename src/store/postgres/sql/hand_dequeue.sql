-- Takes the waiter that hand_over granted the lock out of the queue: $1 name, $2 the hold that ended.
DELETE FROM rowlock_queue
WHERE name = $1::text
  AND hold_id = CASE WHEN split_part(current_setting('rowlock.handed', true), ' ', 1) = $2::text
                     THEN nullif(split_part(current_setting('rowlock.handed', true), ' ', 2), '')::uuid END;
