SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('read_only', 'super_read_only', 'innodb_read_only', 'hostname', 'port', 'server_id', 'server_uuid', 'datadir',
   'wsrep_on', 'innodb_flush_log_at_trx_commit', 'max_allowed_packet', 'log_bin', 'sync_binlog', 'binlog_format',
   'group_replication_single_primary_mode', 'group_replication_group_name');
