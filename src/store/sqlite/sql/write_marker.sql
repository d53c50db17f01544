INSERT INTO rowlock_marker (id, value) VALUES (1, lower(hex(randomblob(16))))
ON CONFLICT (id) DO NOTHING;
