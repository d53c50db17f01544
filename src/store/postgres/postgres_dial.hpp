// Connects without blocking in libpq, so that the time limit is exact to the millisecond and another thread
// can interrupt the attempt.
#pragma once

#include "store/connect_watch.hpp"
#include "store/postgres/postgres_conninfo.hpp"

#include <libpq-fe.h>

#include <memory>
#include <string>

namespace rowlock::store {

struct postgres_finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using raw_connection = std::unique_ptr<PGconn, postgres_finish>;

// Returns a connection to the first server of conninfo that accepts one. The addresses not yet tried share
// the remaining time equally. Throws the error that postgres_connect_error() returns. The look-up of a host's
// addresses is not bounded here. The latest warning of the server is kept in `warning`, which must outlive
// the connection: libpq would write the warning to standard error, which belongs to the program.
raw_connection dial(const postgres_conninfo& conninfo, connect_watch& watch, std::string& warning);

}  // namespace rowlock::store
