-- Pins what a cluster adds: nothing is read from a node that has left the primary component, and no transaction is
-- replicated in pieces.
SET SESSION wsrep_dirty_reads = OFF, wsrep_trx_fragment_size = 0;
