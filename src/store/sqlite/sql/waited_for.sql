SELECT DISTINCT name FROM rowlock_queue ORDER BY name;
