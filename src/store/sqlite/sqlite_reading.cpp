// The verbs that only read, and take no lock.
#include "store/decode.hpp"
#include "store/sqlite/sqlite_session.hpp"

namespace rowlock::store {

std::vector<hold_status> sqlite_session::find(std::span<const hold_query> holds) {
  std::vector<hold_status> result;
  result.reserve(holds.size());
  sqlite_transaction snapshot{connection_};
  for (const auto& wanted : holds) {
    auto& status = result.emplace_back();
    status.hold = wanted.hold;
    auto found = connection_.query("find", wanted.name, wanted.hold);
    if (found.next()) read_status(found, status);
  }
  check_file(false);  // "held" counts as a grant
  return result;
}

std::vector<lock_info> sqlite_session::list(const std::string& after, std::size_t limit) {
  auto result = read_locks(connection_.query("list", after, limit));
  connection_.throw_if_written();
  return result;
}

std::optional<lock_info> sqlite_session::show(const std::string& name) {
  auto result = read_lock(connection_.query("show", name));
  connection_.throw_if_written();
  return result;
}

std::vector<waiter_info> sqlite_session::queue(const std::string& name) {
  auto result = read_waiters(connection_.query("queue", name));
  connection_.throw_if_written();
  return result;
}

held_page sqlite_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  sqlite_transaction snapshot{connection_};
  auto end = connection_.query("read_held_page", after, limit);
  if (!end.next() || end.null("name")) return page;
  const auto last = end.text("name");
  if (end.integer("names") == static_cast<std::int64_t>(limit)) page.next = last;
  auto found = connection_.query("read_held", client, after, last);
  while (found.next()) page.entries.push_back(read_held_entry(found));
  return page;
}

stale sqlite_session::find_stale(std::size_t limit, std::chrono::microseconds skew,
                                 const std::string& after) {
  sqlite_transaction snapshot{connection_};
  return read_stale(connection_.query("find_stale_leases", limit, skew),
                    connection_.query("find_stale_names", after, limit), limit);
}

std::vector<std::string> sqlite_session::waited_for() {
  return read_names(connection_.query("waited_for"));
}

}  // namespace rowlock::store
