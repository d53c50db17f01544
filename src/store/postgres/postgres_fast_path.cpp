// Grants and releases that can be decided from the lock's row alone, with one statement for each mode. No
// statement here waits for a row, except those for permits of one name, which wait for a moment behind rivals
// (hot_row).
#include "store/by_mode.hpp"
#include "store/decode.hpp"
#include "store/postgres/postgres_session.hpp"

#include <algorithm>
#include <tuple>

namespace rowlock::store {

std::vector<grant> postgres_session::acquire(std::span<const acquire_item> requests) {
  if (requests.size() == 1) return acquire_one(requests.front());
  return by_mode(
      requests, [&](auto exclusive) { return acquire_exclusive(exclusive); },
      [&](auto shared) { return acquire_shared(shared); });
}

namespace {

constexpr std::string_view lock_not_available = "55P03";

// The name that all requests have; empty if there are several.
template <class Request>
std::string name_of_all(std::span<const Request> requests) {
  const auto& first = requests.front().name;
  const bool all = std::ranges::all_of(requests, [&](const Request& one) { return one.name == first; });
  return all ? first : std::string{};
}

}  // namespace

template <class... Args>
postgres_rows postgres_session::call_for_permits(const std::string& name, const std::string& statement,
                                                 const Args&... args) {
  if (!hot_.waits_for(name, hot_row::instant::clock::now())) return connection_.call(statement, args...);
  const auto script = connection_.settings() +
                      connection_.execute("take_hot_row", name, hot_.waits_at_most()) +
                      connection_.execute(statement, args...);
  try {
    auto said = connection_.script(statement, script);
    hot_.had_its_turn();
    return said;
  } catch (const error& failure) {
    if (failure.database_code() != lock_not_available) throw;
    hot_.waited_in_vain(hot_row::instant::clock::now());
    return postgres_rows{{}};
  }
}

std::vector<grant> postgres_session::acquire_one(const acquire_item& one) {
  if (one.mode == model::lock_mode::shared) {
    return read_grants(call_for_permits(one.name, "acquire_shared_one", one.name, to_string(one.kind),
                                        one.capacity, one.lease, one.hold, one.fair, one.weight));
  }
  return read_grants(connection_.call("acquire_one", one.name, to_string(one.kind), one.capacity, one.lease,
                                      one.hold, one.fair));
}

std::vector<grant> postgres_session::acquire_exclusive(std::span<const acquire_item> requests) {
  postgres_batch<6> all;
  for (const auto& one : requests) {
    all.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair);
  }
  return read_grants(connection_.call("acquire", all.shortened()));
}

std::vector<grant> postgres_session::acquire_all(std::span<const acquire_item> requests) {
  postgres_batch<4> locks;
  postgres_batch<3> holds;
  for (const auto& one : requests) {
    locks.add(one.name, to_string(one.kind), one.capacity, one.fair);
    holds.add(one.name, one.lease, one.hold);
  }
  return read_grants(connection_.script("acquire_all", connection_.settings() +
                                                           connection_.execute("acquire_all_take", locks) +
                                                           connection_.execute("acquire_all", holds)));
}

std::vector<grant> postgres_session::acquire_shared(std::span<const acquire_item> requests) {
  postgres_batch<7> all;
  for (const auto& one : requests) {
    all.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair, one.weight);
  }
  return std::apply(
      [&](const auto&... column) {
        return read_grants(call_for_permits(name_of_all(requests), "acquire_shared", column...));
      },
      all.shortened());
}

std::vector<hold_id> postgres_session::release(std::span<const release_item> requests, durability how) {
  return by_mode(
      requests, [&](auto exclusive) { return release_by("release", exclusive, how); },
      [&](auto shared) { return release_by("release_shared", shared, how); });
}

std::vector<hold_id> postgres_session::release_by(const std::string& statement,
                                                  std::span<const release_item> requests, durability how) {
  if (requests.empty()) return {};
  const std::string commit = how == durability::durable ? facts_.synchronous_commit : "off";
  const bool shared = requests.front().mode == model::lock_mode::shared;
  const auto hot_name = shared ? name_of_all(requests) : std::string{};
  if (requests.size() == 1 && !requests.front().ends_lease) {
    const auto& one = requests.front();
    return read_holds(call_for_permits(hot_name, statement + "_one", one.name, one.lease, one.hold, commit));
  }
  postgres_batch<3> all;
  postgres_array ending;
  for (const auto& one : requests) {
    all.add(one.name, one.lease, one.hold);
    if (one.ends_lease) ending.add(one.lease);
  }
  return std::apply(
      [&](const auto&... column) {
        return read_holds(ending.empty()
                              ? call_for_permits(hot_name, statement, column..., commit)
                              : call_for_permits(hot_name, statement + "_ending", column..., commit, ending));
      },
      all.shortened());
}

}  // namespace rowlock::store
