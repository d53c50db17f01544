-- :table. Views of the catalogue would ask for the privilege on it; a missing table is no error here.
SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :table;
