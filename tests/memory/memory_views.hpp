// What verbs read and answer, computed from one state of the tables.
#pragma once

#include "memory/memory_server.hpp"

#include <optional>
#include <string>
#include <vector>

namespace rowlock::store {

database_state world_of(const memory_transaction& transaction);
std::optional<model::lease_view> view_of_lease(const memory_transaction& transaction, const lease_id& id);
lock_view view_of(const memory_transaction& transaction, const edit_request& request);
hold_status status_of(const memory_transaction& transaction, const hold_query& query);
lock_info info_of(const memory_transaction& transaction, const memory_lock& lock);
std::vector<waiter_info> queue_of(const memory_transaction& transaction, const std::string& name);
held_page held_of(const memory_transaction& transaction, const lease_id& client, const std::string& after,
                  std::size_t limit);
stale stale_of(const memory_transaction& transaction, std::size_t limit, std::chrono::microseconds skew,
               const std::string& after);

}  // namespace rowlock::store
