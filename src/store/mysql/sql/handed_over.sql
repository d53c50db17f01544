-- What hand_over left: the hold that has the lock now and its client, or nothing.
SELECT @rowlock_granted, @rowlock_client, @rowlock_token, @rowlock_more;
