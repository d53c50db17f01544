-- Pins what a cluster adds. Before each statement of ours, or each transaction, the node applies all that was committed
-- at the others until then: a client's connections may lead to different nodes, and what is missing is believed to be
-- gone. Nothing is read from a node that has left the primary component, and no transaction is replicated in pieces.
SET SESSION wsrep_sync_wait = 7, wsrep_dirty_reads = OFF, wsrep_trx_fragment_size = 0;
