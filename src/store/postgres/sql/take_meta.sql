-- Lets one transaction at a time decide about the world; the statements after this one see what the one before it did.
SELECT id FROM rowlock_meta WHERE id = 1 FOR UPDATE;
