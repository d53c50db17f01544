// For calls of the fast path that use one statement for exclusive requests and another one for shared requests.
#pragma once

#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace rowlock::store {

// Returns the answers of both statements together. Nearly all calls have only one mode; they are passed on unchanged.
template <class Request, class Exclusive, class Shared>
auto by_mode(std::span<const Request> requests, Exclusive exclusive, Shared shared) {
  const auto is_exclusive = [](const Request& one) { return one.mode == model::lock_mode::exclusive; };
  if (std::ranges::all_of(requests, is_exclusive)) return exclusive(requests);
  if (std::ranges::none_of(requests, is_exclusive)) return shared(requests);
  std::vector<Request> sorted{requests.begin(), requests.end()};
  const auto second = std::stable_partition(sorted.begin(), sorted.end(), is_exclusive);
  auto answer = exclusive(std::span<const Request>{sorted.begin(), second});
  try {
    const auto more = shared(std::span<const Request>{second, sorted.end()});
    answer.insert(answer.end(), more.begin(), more.end());
  } catch (const error& failure) {
    // The first statement has committed, so the outcome is unknown.
    throw error(failure.kind(), failure.what(), failure.database_code(), true);
  }
  return answer;
}

}  // namespace rowlock::store
