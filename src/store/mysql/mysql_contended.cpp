// What spares a contended lock the edit.
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

// It may fail with its transaction open.
void mysql_session::run_block(const std::string& query, const mysql_values& values) {
  try {
    connection_.write(query, values);
  } catch (const error&) {
    connection_.rollback();
    throw;
  }
}

std::optional<std::chrono::microseconds> mysql_session::enqueue(const acquire_request& request,
                                                                std::chrono::microseconds skew) {
  if (!connection_.takes_blocks()) return {};
  run_block("queue_enter", {{"name", request.name},
                            {"kind", std::string{to_string(request.kind)}},
                            {"capacity", request.capacity},
                            {"lease", request.lease.to_string()},
                            {"hold", request.hold.to_string()},
                            {"skew_us", skew.count()}});
  const auto row = connection_.read("queue_entered", 1).at(0);
  if (!row[0]) return {};
  return std::chrono::microseconds{integer_of(row[0])};
}

std::optional<hand_over_reply> mysql_session::hand_over(const release_request& request,
                                                        std::chrono::microseconds skew) {
  if (!connection_.takes_blocks()) return {};
  run_block("hand_over", {{"name", request.name},
                          {"lease", request.lease.to_string()},
                          {"hold", request.hold.to_string()},
                          {"identity", facts_.identity},
                          {"skew_us", skew.count()}});
  const auto row = connection_.read("handed_over", 4).at(0);
  if (!row[0]) return {};
  return hand_over_reply{.granted = id_of<hold_id>(row[0]),
                         .client = id_of<lease_id>(row[1]),
                         .token = integer_of(row[2]),
                         .has_queue = bool_of(row[3])};
}

}  // namespace rowlock::store
