// Handles a single request for a lock that other clients want too, in one round trip in which each statement
// has its own snapshot.
#include "store/decode.hpp"
#include "store/postgres/postgres_session.hpp"
#include "store/postgres/postgres_transaction.hpp"

namespace rowlock::store {

std::optional<std::chrono::microseconds> postgres_session::enqueue(const acquire_item& request,
                                                                   std::chrono::microseconds skew) {
  const auto script = connection_.settings() +
                      connection_.execute("enqueue_take", request.name, to_string(request.kind),
                                          request.capacity, request.hold, request.fair) +
                      connection_.execute("enqueue", request.name, request.lease, request.hold, skew);
  auto entered = connection_.script("enqueue", script);
  if (!entered.next()) return {};
  return entered.microseconds("takeover_us");
}

// The wake-up follows the commit in the same script, so the waiter does not wait for another message of this client.
std::optional<hand_over_reply> postgres_session::hand_over(const release_item& request,
                                                           std::chrono::microseconds skew) {
  const auto& name = request.name;
  const auto& hold = request.hold;
  const auto script = connection_.begin() + connection_.execute("hand_over_take", name, request.lease, hold) +
                      connection_.execute("hand_over", name, hold, skew) +
                      connection_.execute("hand_over_dequeue", name, hold) + "COMMIT;\n" +
                      connection_.settings() +
                      connection_.execute("hand_over_wake", hold, request.lease, context_->options.prefix);
  postgres_transaction transaction{connection_};
  try {
    auto given = connection_.script("hand_over", script);
    transaction.is_over();
    if (!given.next()) return {};
    return read_hand_over(given);
  } catch (const error& failure) {
    // The commit may have succeeded, and only the wake-up behind it failed.
    throw error(failure.kind(), failure.what(), failure.database_code(), true);
  }
}

}  // namespace rowlock::store
