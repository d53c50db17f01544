SELECT name FROM rowlock_queue GROUP BY name;
