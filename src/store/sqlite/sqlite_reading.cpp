// What reads, and takes no lock.
#include "store/sqlite/sqlite_session.hpp"

namespace rowlock::store {
namespace {

std::chrono::milliseconds milliseconds_of(std::int64_t microseconds) {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::microseconds{microseconds});
}

// From the columns id, client_id, host, pid, application, ttl_ms.
lease_record lease_of(const sqlite_query& row, int first) {
  return {.id = row.id<lease_id>(first),
          .client = row.id<lease_id>(first + 1),
          .host = row.text(first + 2),
          .pid = row.integer(first + 3),
          .application = row.text(first + 4),
          .ttl = std::chrono::milliseconds{row.integer(first + 5)}};
}

// A row of the queries list and show, without its holder.
lock_info lock_of(const sqlite_query& row) {
  lock_info info;
  info.row = {.name = row.text(0),
              .kind = model::parse_lock_kind(row.text(1)),
              .capacity = row.integer(2),
              .in_use = row.integer(3),
              .token = row.integer(4),
              .next_ticket = row.integer(5),
              .lease = row.optional_id<lease_id>(6),
              .hold = row.optional_id<hold_id>(7),
              .has_queue = row.integer(8) != 0,
              .fair = row.integer(9) != 0,
              .delay = std::chrono::milliseconds{row.integer(10)}};
  info.waiters = row.integer(11);
  if (!row.null(24)) info.value = row.text(24);
  if (!row.null(25)) info.request = {row.integer(25), milliseconds_of(row.integer(26)), row.text(27)};
  return info;
}

// The rows of a lock follow one another.
void add_row(std::vector<lock_info>& locks, const sqlite_query& row) {
  if (locks.empty() || locks.back().row.name != row.text(0)) locks.push_back(lock_of(row));
  if (row.null(12)) return;
  locks.back().holders.push_back({.lease = lease_of(row, 12),
                                  .hold = row.id<hold_id>(20),
                                  .weight = row.integer(21),
                                  .mode = model::parse_lock_mode(row.text(22)),
                                  .token = row.integer(23),
                                  .held_for = milliseconds_of(row.integer(19)),
                                  .expires_in = milliseconds_of(row.integer(18))});
}

}  // namespace

std::vector<hold_status> sqlite_session::find(std::span<const hold_query> holds) {
  std::vector<hold_status> result;
  result.reserve(holds.size());
  sqlite_transaction snapshot{connection_};
  for (const auto& wanted : holds) {
    auto& status = result.emplace_back();
    status.hold = wanted.hold;
    auto query = connection_.query("find", wanted.name, wanted.hold);
    if (!query.next()) continue;
    status.kind = model::parse_lock_kind(query.text(5));
    status.capacity = query.integer(6);
    status.in_use = query.integer(8);
    status.fair = query.integer(9) != 0;
    if (query.integer(0) != 0) {
      status.state = hold_status::where::held;
      status.token = query.integer(1);
      status.has_queue = query.integer(7) != 0;
      status.is_asked_for = query.integer(10) != 0;
      status.lease = query.id<lease_id>(2);
      continue;
    }
    if (!query.null(3)) {
      status.state = hold_status::where::queued;
      status.lease = query.id<lease_id>(3);
    }
    status.takeover_in = std::chrono::microseconds{query.integer(4)};
  }
  check_file(false);  // "held" counts as a grant
  return result;
}

std::vector<lock_info> sqlite_session::list() {
  std::vector<lock_info> result;
  for (auto query = connection_.query("list"); query.next();) add_row(result, query);
  connection_.throw_if_written();
  return result;
}

std::optional<lock_info> sqlite_session::show(const std::string& name) {
  std::vector<lock_info> found;
  for (auto query = connection_.query("show", name); query.next();) add_row(found, query);
  connection_.throw_if_written();
  if (found.empty()) return {};
  return std::move(found.front());
}

std::vector<waiter_info> sqlite_session::queue(const std::string& name) {
  std::vector<waiter_info> result;
  for (auto query = connection_.query("queue", name); query.next();) {
    auto& info = result.emplace_back();
    info.waiter = {query.integer(0), query.id<hold_id>(1), query.id<lease_id>(2), query.integer(3),
                   model::parse_lock_mode(query.text(4))};
    info.alive = !query.null(5);
    if (info.alive) {
      info.lease = lease_of(query, 5);
      info.expires_in = milliseconds_of(query.integer(11));
    } else {
      info.lease.id = info.waiter.lease;
    }
  }
  connection_.throw_if_written();
  return result;
}

held_page sqlite_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  const auto most = static_cast<std::int64_t>(limit);
  sqlite_transaction snapshot{connection_};
  auto end = connection_.query("page_end", after, most);
  if (!end.next() || end.null(0)) return page;
  const auto last = end.text(0);
  if (end.integer(1) == most) page.next = last;
  for (auto query = connection_.query("read_held", client, after, last); query.next();) {
    page.entries.push_back({query.text(0), query.id<hold_id>(1), query.id<lease_id>(2),
                            model::parse_lock_mode(query.text(3)), query.integer(4) != 0});
  }
  return page;
}

stale sqlite_session::find_stale(std::size_t limit, std::chrono::microseconds skew,
                                 const std::string& after) {
  const auto most = static_cast<std::int64_t>(limit);
  stale result;
  sqlite_transaction snapshot{connection_};
  for (auto query = connection_.query("stale_leases", most, std::int64_t{skew.count()}); query.next();) {
    result.expired_leases.push_back(query.id<lease_id>(0));
  }
  std::size_t read = 0;
  for (auto query = connection_.query("stale_names", after, most); query.next();) {
    if (query.integer(1) != 0) result.names.push_back(query.text(0));
    if (++read == limit) result.next = query.text(0);
  }
  return result;
}

std::vector<std::string> sqlite_session::waited_for() {
  std::vector<std::string> names;
  for (auto query = connection_.query("waited_for"); query.next();) names.push_back(query.text(0));
  return names;
}

}  // namespace rowlock::store
