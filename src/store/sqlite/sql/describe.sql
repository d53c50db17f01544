SELECT m.name, c.name, c.type, c."notnull"
  FROM sqlite_master m
  JOIN pragma_table_xinfo(m.name) c
 WHERE m.type = 'table'
   AND m.name IN ('rowlock_lease', 'rowlock_lock', 'rowlock_permit', 'rowlock_queue', 'rowlock_marker', 'rowlock_meta')
 ORDER BY 1, 2;
