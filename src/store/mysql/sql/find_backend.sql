SELECT id FROM information_schema.processlist WHERE id = :id AND host = :peer;
