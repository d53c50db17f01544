// Requests for a contended lock that need no edit.
#include "store/decode.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

std::optional<std::chrono::microseconds> mysql_session::enqueue(const acquire_item& request,
                                                                std::chrono::microseconds skew) {
  auto values = request_values(request);
  values.emplace_back("skew_us", skew);
  auto entered = connection_.read_prepared("enqueue", values);
  if (!entered.next()) return {};
  return entered.microseconds("takeover_us");
}

std::optional<hand_over_reply> mysql_session::hand_over(const release_item& request,
                                                        std::chrono::microseconds skew) {
  auto values = request_values(request);
  values.push_back(identity());
  values.emplace_back("skew_us", skew);
  auto given = connection_.read_prepared("hand_over", values);
  if (!given.next()) return {};
  return read_hand_over(given);
}

}  // namespace rowlock::store
