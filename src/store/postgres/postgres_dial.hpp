// Connects without blocking in libpq: within a limit that is kept to the millisecond, and so that another
// thread can break it off.
#pragma once

#include "store/connect_watch.hpp"
#include "store/postgres/postgres_conninfo.hpp"

#include <libpq-fe.h>

#include <memory>

namespace rowlock::store {

struct postgres_finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using raw_connection = std::unique_ptr<PGconn, postgres_finish>;

// A connection to the first server of conninfo that takes it. Each address that is left to try gets an equal
// share of the time that is left. Throws as postgres_connect_error says. The search for a host's addresses
// is the system's and not bounded here.
raw_connection dial(const postgres_conninfo& conninfo, connect_watch& watch);

}  // namespace rowlock::store
