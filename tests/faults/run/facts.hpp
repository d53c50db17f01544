// What a reader needs to know about a violation, or about a recovery that takes long.
#pragma once

#include "load.hpp"
#include "site.hpp"

#include <string>

namespace rowlock::test {

// The locks, leases, queues and sessions as the database shows them now, and the end of each worker's log.
std::string facts_of(site& where, const load_settings& load);
// The end of the server's log. Empty if the site has no server of its own.
std::string end_of_server_log(const site& where);

}  // namespace rowlock::test
