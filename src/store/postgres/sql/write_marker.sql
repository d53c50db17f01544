-- $1 a fresh random value, for the case that there is none.
INSERT INTO rowlock_marker (id, value) VALUES (1, $1::text) ON CONFLICT (id) DO NOTHING;
