-- MySQL has no limit for an idle transaction: a client that stands still inside of one is disconnected after this.
SET SESSION wait_timeout = @rowlock_idle_s;
