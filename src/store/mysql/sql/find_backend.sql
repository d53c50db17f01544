SELECT host FROM information_schema.processlist WHERE id = :id;
