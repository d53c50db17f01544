// Which connections wait for a lock of a MySQL server. information_schema.innodb_trx shows it a tenth of a second late.
#pragma once

namespace rowlock::test {

// A query for the ids of these connections. When a row moves, the locks of those who wait for it move along and then
// name the thread that moved it; a transaction's table locks name its own thread.
inline constexpr const char* waiting_in_mysql =
    "SELECT DISTINCT t.processlist_id FROM performance_schema.data_lock_waits AS w "
    "JOIN performance_schema.data_locks AS l ON l.engine_transaction_id = w.requesting_engine_transaction_id "
    "JOIN performance_schema.threads AS t ON t.thread_id = l.thread_id WHERE l.lock_type = 'TABLE'";

}  // namespace rowlock::test
