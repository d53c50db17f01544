// What spares a contended lock the edit.
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

std::optional<std::chrono::microseconds> mysql_session::enqueue(const acquire_item& request,
                                                                std::chrono::microseconds skew) {
  if (!connection_.takes_blocks()) return {};
  const auto entered = connection_.read_block("queue_enter", 1,
                                              {mysql_text("name", request.name),
                                               {"kind", std::string{to_string(request.kind)}},
                                               {"capacity", request.capacity},
                                               {"fair", std::int64_t{request.fair}},
                                               {"lease", request.lease.to_string()},
                                               {"hold", request.hold.to_string()},
                                               {"skew_us", skew.count()}});
  if (entered.empty()) return {};
  return std::chrono::microseconds{integer_of(entered[0][0])};
}

std::optional<hand_over_reply> mysql_session::hand_over(const release_item& request,
                                                        std::chrono::microseconds skew) {
  if (!connection_.takes_blocks()) return {};
  const auto given = connection_.read_block("hand_over", 4,
                                            {mysql_text("name", request.name),
                                             {"lease", request.lease.to_string()},
                                             {"hold", request.hold.to_string()},
                                             mysql_text("identity", identity_),
                                             {"skew_us", skew.count()}});
  if (given.empty()) return {};
  const auto& row = given[0];
  return hand_over_reply{.granted = id_of<hold_id>(row[0]),
                         .client = id_of<lease_id>(row[1]),
                         .token = integer_of(row[2]),
                         .has_queue = bool_of(row[3])};
}

}  // namespace rowlock::store
