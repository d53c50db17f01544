-- What this connection is.
SELECT VERSION(), CONNECTION_ID(), COALESCE(DATABASE(), ''), @@SESSION.character_set_database,
       (SELECT host FROM information_schema.processlist WHERE id = CONNECTION_ID()),
       (SELECT engine
        FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = 'rowlock_marker');
