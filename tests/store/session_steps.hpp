// Single steps of a session for the tests of a store, where the seam takes batches.
#pragma once

#include "store/store.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace rowlock::test {

using namespace std::chrono_literals;
using model::hold_id;
using model::lease_id;

struct claim {
  std::string name;
  lease_id lease;
  hold_id hold;
};

// A request for permits of a semaphore of five.
store::acquire_item permits_of_five(const std::string& name, lease_id lease, std::int64_t weight = 1);

lease_id new_lease(store::session& session, std::chrono::milliseconds ttl = 30s);
void create(store::session& session, const std::string& name);
std::optional<model::token> acquire(store::session& session, const claim& wanted);
bool release(store::session& session, const claim& held,
             store::durability how = store::durability::asynchronous);
bool renew(store::session& session, lease_id lease);
store::edit_result edit(store::session& session, const std::string& name,
                        const std::function<store::lock_change(const store::lock_view&)>& decide);
// The view that an edit gets; empty if the lock is skipped or missing.
std::optional<store::lock_view> look(store::session& session, const std::string& name);
// A lock that a new lease holds.
claim new_hold(store::session& session, const std::string& name);

}  // namespace rowlock::test
