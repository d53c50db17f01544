// The verbs that only read.
#include "store/decode.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

namespace {

// For statements that read whole tables. A script is one transaction, so the setting ends with it.
constexpr auto with_scans = "SELECT set_config('enable_seqscan', 'on', true);\n";

}  // namespace

std::vector<hold_status> postgres_session::find(std::span<const hold_query> holds) {
  const auto ask = [&] {
    if (holds.size() == 1) return connection_.call("find_one", holds[0].name, holds[0].hold);
    postgres_batch<2> wanted;
    for (const auto& one : holds) wanted.add(one.name, one.hold);
    return connection_.call("find", wanted);
  };
  return read_statuses(ask(), holds);
}

std::vector<lock_info> postgres_session::list(const std::string& after, std::size_t limit) {
  // A small page is read by the keys.
  if (limit != no_limit) return read_locks(connection_.call("list", after, limit));
  return read_locks(connection_.script(
      "list", connection_.settings() + with_scans + connection_.execute("list", after, limit)));
}

std::optional<lock_info> postgres_session::show(const std::string& name) {
  return read_lock(connection_.call("show", name));
}

std::vector<waiter_info> postgres_session::queue(const std::string& name) {
  return read_waiters(connection_.call("queue", name));
}

held_page postgres_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  for (auto found = connection_.call("read_held", client, after, limit); found.next();) {
    if (found.null("hold_id")) {
      page.next = found.text("name");
    } else {
      page.entries.push_back(read_held_entry(found));
    }
  }
  return page;
}

stale postgres_session::find_stale(std::size_t limit, std::chrono::microseconds skew,
                                   const std::string& after) {
  stale result;
  result.leases = read_leases(connection_.script(
      "find_stale",
      connection_.settings() + with_scans + connection_.execute("find_stale_leases", skew, limit)));
  for (auto found = connection_.call("find_stale_names", after, limit); found.next();) {
    if (found.boolean("is_stale")) result.names.push_back(found.text("name"));
    if (found.boolean("more")) result.next = found.text("name");
  }
  return result;
}

std::vector<std::string> postgres_session::waited_for() {
  return read_names(connection_.script(
      "waited_for", connection_.settings() + with_scans + connection_.execute("waited_for")));
}

}  // namespace rowlock::store
