// Releases that are sent again after a pause. Those of one name are sent together, so that a row which stays locked is
// probed by one statement and with one pause, however many releases and withdrawals wait for it.
#pragma once

#include "client/base/time_source.hpp"
#include "client/core/operation.hpp"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rowlock::client_layer {

// Not thread-safe.
class delayed_releases {
 public:
  bool empty() const noexcept { return by_name_.empty(); }

  // Others may wait for the release of a hold, so all operations of its name become due at `until`, if they
  // were due later. Any other operation becomes due with those of its name that are there already.
  void add(std::shared_ptr<release_operation> operation, instant until);
  // All operations of that name become due at `until`, if they were due later. Returns whether some were.
  bool hasten(const std::string& name, instant until) noexcept;
  instant next() const { return due_.empty() ? instant::max() : due_.begin()->first; }
  // Removes and returns all releases of the name that is due first.
  std::vector<std::shared_ptr<release_operation>> take_next();

 private:
  struct group;
  using groups = std::unordered_map<std::string, group>;
  using dues = std::multimap<instant, groups::value_type*>;
  struct group {
    std::vector<std::shared_ptr<release_operation>> waiting{};
    dues::iterator due{};
  };

  bool hasten(group& of_name, instant until) noexcept;

  groups by_name_;
  dues due_;
};

}  // namespace rowlock::client_layer
