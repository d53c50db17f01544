#include "store/store.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rowlock::store {

namespace {

constexpr std::array<std::pair<history_event, std::string_view>, 10> event_names{{
    {history_event::unknown, "unknown"},
    {history_event::granted, "granted"},
    {history_event::handed_over, "handed over"},
    {history_event::released, "released"},
    {history_event::lost, "lost"},
    {history_event::forced, "forced"},
    {history_event::moved, "moved"},
    {history_event::requested, "release requested"},
    {history_event::queued, "queued"},
    {history_event::left, "left the queue"},
}};

}  // namespace

std::string_view to_string(history_event event) noexcept {
  for (const auto& [known, name] : event_names) {
    if (known == event) return name;
  }
  return "unknown";
}

history_event parse_history_event(std::string_view text) noexcept {
  for (const auto& [event, name] : event_names) {
    if (name == text) return event;
  }
  return history_event::unknown;
}

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
