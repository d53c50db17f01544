-- One line a column, as in the schema's file. The display width of integers says nothing, and MySQL has dropped it.
SELECT table_name, column_name,
       IF(data_type IN ('bigint', 'int', 'smallint', 'tinyint'), data_type, column_type), is_nullable = 'NO'
FROM information_schema.columns
WHERE table_schema = DATABASE()
  AND table_name IN ('rowlock_lease', 'rowlock_lock', 'rowlock_permit', 'rowlock_queue', 'rowlock_marker',
                     'rowlock_meta');
