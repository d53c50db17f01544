-- Lets one transaction at a time decide about the world.
SELECT identity FROM rowlock_meta WHERE id = 1 FOR UPDATE;
