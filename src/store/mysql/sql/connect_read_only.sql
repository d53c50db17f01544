-- A session that only reads, on a replica too.
SET SESSION TRANSACTION READ ONLY;
