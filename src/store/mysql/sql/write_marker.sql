-- :value a fresh random one, for the case that there is none.
INSERT INTO rowlock_marker (id, value) VALUES (1, :value) ON DUPLICATE KEY UPDATE id = 1;
