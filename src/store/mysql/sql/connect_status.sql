SHOW STATUS WHERE Variable_name IN
  ('Ssl_cipher', 'wsrep_ready', 'wsrep_cluster_status', 'wsrep_cluster_state_uuid');
