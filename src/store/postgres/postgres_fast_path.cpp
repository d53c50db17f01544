// Grants and releases that can be decided from the lock's row alone, with one statement for each mode.
#include "store/by_mode.hpp"
#include "store/decode.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

std::vector<grant> postgres_session::acquire(std::span<const acquire_item> requests) {
  if (requests.size() == 1) return acquire_one(requests.front());
  return by_mode(
      requests, [&](auto exclusive) { return acquire_exclusive(exclusive); },
      [&](auto shared) { return acquire_shared(shared); });
}

std::vector<grant> postgres_session::acquire_one(const acquire_item& one) {
  if (one.mode == model::lock_mode::shared) {
    return read_grants(connection_.call("acquire_shared_one", one.name, to_string(one.kind), one.capacity,
                                        one.lease, one.hold, one.fair, one.weight));
  }
  return read_grants(connection_.call("acquire_one", one.name, to_string(one.kind), one.capacity, one.lease,
                                      one.hold, one.fair));
}

std::vector<grant> postgres_session::acquire_exclusive(std::span<const acquire_item> requests) {
  postgres_batch<6> all;
  for (const auto& one : requests) {
    all.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair);
  }
  return read_grants(connection_.call("acquire", all));
}

std::vector<grant> postgres_session::acquire_shared(std::span<const acquire_item> requests) {
  postgres_batch<7> all;
  for (const auto& one : requests) {
    all.add(one.name, to_string(one.kind), one.capacity, one.lease, one.hold, one.fair, one.weight);
  }
  return read_grants(connection_.call("acquire_shared", all));
}

std::vector<hold_id> postgres_session::release(std::span<const release_item> requests, durability how) {
  return by_mode(
      requests, [&](auto exclusive) { return release_by("release", exclusive, how); },
      [&](auto shared) { return release_by("release_shared", shared, how); });
}

std::vector<hold_id> postgres_session::release_by(const std::string& statement,
                                                  std::span<const release_item> requests, durability how) {
  const std::string commit = how == durability::durable ? facts_.synchronous_commit : "off";
  const auto ask = [&] {
    if (requests.size() == 1) {
      const auto& one = requests.front();
      return connection_.call(statement + "_one", one.name, one.lease, one.hold, commit);
    }
    postgres_batch<3> all;
    for (const auto& one : requests) all.add(one.name, one.lease, one.hold);
    return connection_.call(statement, all, commit);
  };
  return read_holds(ask());
}

}  // namespace rowlock::store
