// A lone request for a lock that others want too: one round trip, in which each statement has a snapshot of
// its own.
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

std::optional<std::chrono::microseconds> postgres_session::enqueue(const acquire_item& request,
                                                                   std::chrono::microseconds skew) {
  const auto hold = request.hold.to_string();
  const auto script =
      connection_.settings() +
      connection_.execute("queue_take", request.name, std::string{to_string(request.kind)},
                          std::to_string(request.capacity), hold, std::string{request.fair ? "t" : "f"}) +
      connection_.execute("queue_enter", request.name, request.lease.to_string(), hold,
                          std::to_string(skew.count()));
  const auto rows = connection_.script("enqueue", script);
  if (rows.empty()) return {};
  return std::chrono::microseconds{integer_of(rows[0][0])};
}

// The wake-up stands behind the commit in the same script, so that the waiter does not wait for this client
// to send it.
std::optional<hand_over_reply> postgres_session::hand_over(const release_item& request,
                                                           std::chrono::microseconds skew) {
  const auto hold = request.hold.to_string();
  const auto lease = request.lease.to_string();
  const auto script = connection_.begin() + connection_.execute("hand_take", request.name, lease, hold) +
                      connection_.execute("hand_over", request.name, hold, std::to_string(skew.count())) +
                      connection_.execute("hand_dequeue", request.name, hold) + "COMMIT;\n" +
                      connection_.settings() +
                      connection_.execute("hand_wake", hold, lease, context_->options.prefix);
  try {
    const auto rows = connection_.script("hand_over", script);
    if (rows.empty()) return {};
    const auto& row = rows[0];
    return hand_over_reply{id_of<hold_id>(row["granted"]), id_of<lease_id>(row["client"]),
                           integer_of(row["token"]), bool_of(row["has_queue"])};
  } catch (const error& failure) {
    connection_.rollback();
    // What failed may have been the wake-up, after the commit.
    throw error(failure.code(), failure.what(), failure.database_code(), true);
  }
}

}  // namespace rowlock::store
