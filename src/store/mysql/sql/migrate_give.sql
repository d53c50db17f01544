SELECT RELEASE_LOCK(MD5(CONCAT('rowlock migrate ', DATABASE(), '.', :prefix)));
