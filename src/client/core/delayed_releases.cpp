#include "client/core/delayed_releases.hpp"

namespace rowlock::client_layer {

void delayed_releases::add(std::shared_ptr<release_operation> operation, instant until) {
  const bool hurries = operation->frees_a_hold();
  const auto [at, is_new] = by_name_.try_emplace(operation->name);
  group& of_name = at->second;
  if (is_new) of_name.due = due_.end();
  try {
    of_name.waiting.push_back(std::move(operation));
    if (is_new) of_name.due = due_.emplace(until, &*at);
  } catch (...) {
    if (is_new) by_name_.erase(at);
    throw;
  }
  if (hurries) hasten(of_name, until);
}

bool delayed_releases::hasten(const std::string& name, instant until) noexcept {
  const auto at = by_name_.find(name);
  return at != by_name_.end() && hasten(at->second, until);
}

bool delayed_releases::hasten(group& of_name, instant until) noexcept {
  if (until >= of_name.due->first) return false;
  auto node = due_.extract(of_name.due);
  node.key() = until;
  of_name.due = due_.insert(std::move(node));
  return true;
}

std::vector<std::shared_ptr<release_operation>> delayed_releases::take_next() {
  const auto at = due_.begin()->second;
  due_.erase(due_.begin());
  auto taken = std::move(at->second.waiting);
  by_name_.erase(by_name_.find(at->first));
  return taken;
}

}  // namespace rowlock::client_layer
