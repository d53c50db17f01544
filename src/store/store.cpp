#include "store/store.hpp"

#include <algorithm>

namespace rowlock::store {

void lock_view::add_waiter(const model::waiter& waiter, const std::optional<model::lease_view>& lease) {
  if (queue.size() < queue_window) {
    queue.push_back({waiter, lease});
  } else {
    queue_complete = false;
  }
}

model::lock_definition definition_of(const std::string& name, const hold_status& status) {
  return {name, status.kind, status.capacity, status.fair};
}

std::vector<lease_id> clients_of(std::span<const wakeup> told) {
  std::vector<lease_id> clients;
  for (const auto& one : told) clients.push_back(one.client);
  std::sort(clients.begin(), clients.end());
  clients.erase(std::unique(clients.begin(), clients.end()), clients.end());
  return clients;
}

std::vector<edit_result> lock_verbs::edit(std::span<const edit_request> requests) {
  return edit_together(requests, [&](auto results, auto views) {
    std::vector<lock_change> changes(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (results[i] == edit_result::committed) changes[i] = requests[i].decide(views[i]);
    }
    return changes;
  });
}

}  // namespace rowlock::store
