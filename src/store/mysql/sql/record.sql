INSERT INTO rowlock_migration (version, title, checksum, applied_at)
VALUES (:version, :title, :checksum, SYSDATE())
ON DUPLICATE KEY UPDATE title = :title, checksum = :checksum, applied_at = SYSDATE();
