-- One migrator at a time on these tables. A name of such a lock has 64 characters at most.
SELECT GET_LOCK(MD5(CONCAT('rowlock migrate ', DATABASE(), '.', :prefix)), 31536000);
