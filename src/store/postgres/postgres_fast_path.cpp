// Grants and releases that are decided from the lock's row alone: one statement for each mode.
#include "store/by_mode.hpp"
#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

namespace {

std::vector<grant> grants_of(const pqxx::result& rows) {
  std::vector<grant> grants;
  for (const auto& row : rows) grants.push_back({id_of<hold_id>(row[0]), integer_of(row[1])});
  return grants;
}

std::vector<hold_id> holds_of(const pqxx::result& rows) {
  std::vector<hold_id> holds;
  for (const auto& row : rows) holds.push_back(id_of<hold_id>(row[0]));
  return holds;
}

// The columns of a batch.
struct acquire_columns {
  explicit acquire_columns(std::span<const acquire_item> requests) {
    for (const auto& request : requests) {
      names.add_text(request.name);
      kinds.add_word(to_string(request.kind));
      capacities.add(request.capacity);
      leases.add_id(request.lease);
      holds.add_id(request.hold);
      fairness.add(request.fair);
      weights.add(request.weight);
    }
  }

  postgres_array names, kinds, capacities, leases, holds, fairness, weights;
};

}  // namespace

std::vector<grant> postgres_session::acquire(std::span<const acquire_item> requests) {
  return by_mode(
      requests, [&](auto exclusive) { return acquire_exclusive(exclusive); },
      [&](auto shared) { return acquire_shared(shared); });
}

std::vector<grant> postgres_session::acquire_exclusive(std::span<const acquire_item> requests) {
  if (requests.size() == 1) {
    const auto& one = requests.front();
    return grants_of(connection_.call("acquire_one", one.name, std::string{to_string(one.kind)},
                                      std::to_string(one.capacity), one.lease.to_string(),
                                      one.hold.to_string(), std::string{one.fair ? "t" : "f"}));
  }
  const acquire_columns all{requests};
  return grants_of(connection_.call("acquire", all.names.str(), all.kinds.str(), all.capacities.str(),
                                    all.leases.str(), all.holds.str(), all.fairness.str()));
}

std::vector<grant> postgres_session::acquire_shared(std::span<const acquire_item> requests) {
  if (requests.size() == 1) {
    const auto& one = requests.front();
    return grants_of(connection_.call("acquire_shared_one", one.name, std::string{to_string(one.kind)},
                                      std::to_string(one.capacity), one.lease.to_string(),
                                      one.hold.to_string(), std::string{one.fair ? "t" : "f"},
                                      std::to_string(one.weight)));
  }
  const acquire_columns all{requests};
  return grants_of(connection_.call("acquire_shared", all.names.str(), all.kinds.str(), all.capacities.str(),
                                    all.leases.str(), all.holds.str(), all.fairness.str(),
                                    all.weights.str()));
}

std::vector<hold_id> postgres_session::release(std::span<const release_item> requests, durability how) {
  return by_mode(
      requests, [&](auto exclusive) { return release_by("release", exclusive, how); },
      [&](auto shared) { return release_by("release_shared", shared, how); });
}

std::vector<hold_id> postgres_session::release_by(const std::string& query,
                                                  std::span<const release_item> requests, durability how) {
  const std::string commit = how == durability::durable ? facts_.synchronous_commit : "off";
  if (requests.size() == 1) {
    const auto& one = requests.front();
    return holds_of(
        connection_.call(query + "_one", one.name, one.lease.to_string(), one.hold.to_string(), commit));
  }
  postgres_array names, leases, holds;
  for (const auto& request : requests) {
    names.add_text(request.name);
    leases.add_id(request.lease);
    holds.add_id(request.hold);
  }
  return holds_of(connection_.call(query, names.str(), leases.str(), holds.str(), commit));
}

}  // namespace rowlock::store
