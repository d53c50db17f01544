// The verbs that only read.
#include "store/decode.hpp"
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

std::vector<hold_status> mysql_session::find(std::span<const hold_query> holds) {
  if (holds.empty()) return {};
  mysql_json asked;
  for (const auto& wanted : holds) asked.add(wanted.name, wanted.hold);
  return read_statuses(connection_.read("find", {{"holds", asked}}), holds);
}

std::vector<lock_info> mysql_session::list(const std::string& after, std::size_t limit) {
  return read_locks(connection_.read("list", {mysql_text("after", after), {"most", limit}}));
}

std::optional<lock_info> mysql_session::show(const std::string& name) {
  return read_lock(connection_.read("show", {mysql_text("name", name)}));
}

std::vector<waiter_info> mysql_session::queue(const std::string& name) {
  return read_waiters(connection_.read("queue", {mysql_text("name", name)}));
}

held_page mysql_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  const auto from = mysql_text("after", after);
  auto end = connection_.read("read_held_page", {from, {"most", limit}});
  if (!end.next() || end.null("name")) return page;
  const auto last = end.text("name");
  if (end.integer("names") == static_cast<std::int64_t>(limit)) page.next = last;
  auto found = connection_.read(
      "read_held", {{"client", mysql_literals{mysql_literal(client)}}, from, mysql_text("last", last)});
  while (found.next()) page.entries.push_back(read_held_entry(found));
  return page;
}

stale mysql_session::find_stale(std::size_t limit, std::chrono::microseconds skew, const std::string& after) {
  const mysql_value most{"most", limit};
  return read_stale(connection_.read("find_stale_leases", {{"skew_us", skew}, most}),
                    connection_.read("find_stale_names", {mysql_text("after", after), most}), limit);
}

std::vector<std::string> mysql_session::waited_for() {
  return read_names(connection_.read("waited_for"));
}

}  // namespace rowlock::store
