-- What this connection is.
SELECT VERSION(), CONNECTION_ID(), COALESCE(DATABASE(), ''), @@SESSION.character_set_database,
       (SELECT host FROM information_schema.processlist WHERE id = CONNECTION_ID());
