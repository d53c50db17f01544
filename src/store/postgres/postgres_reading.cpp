// What reads, and locks nothing.
#include "store/postgres/postgres_array.hpp"
#include "store/postgres/postgres_rows.hpp"
#include "store/postgres/postgres_session.hpp"

namespace rowlock::store {

namespace {

// These read whole tables. All that is sent at once is one transaction, so the setting ends with it.
constexpr auto with_scans = "SELECT set_config('enable_seqscan', 'on', true);\n";

std::chrono::milliseconds milliseconds_of(const pqxx::field& field) {
  return std::chrono::milliseconds{integer_of(field)};
}

// id, client_id, host, pid, application, ttl_ms.
lease_record lease_of(const pqxx::row& row, int first) {
  return {.id = id_of<lease_id>(row[first]),
          .client = id_of<lease_id>(row[first + 1]),
          .host = row[first + 2].c_str(),
          .pid = integer_of(row[first + 3]),
          .application = row[first + 4].c_str(),
          .ttl = milliseconds_of(row[first + 5])};
}

// A row of list and show, without its holder.
lock_info lock_of(const pqxx::row& row) {
  lock_info info;
  info.row = {.name = row[0].c_str(),
              .kind = model::parse_lock_kind(row[1].c_str()),
              .capacity = integer_of(row[2]),
              .in_use = integer_of(row[3]),
              .token = integer_of(row[4]),
              .next_ticket = integer_of(row[5]),
              .lease = optional_id_of<lease_id>(row[6]),
              .hold = optional_id_of<hold_id>(row[7]),
              .has_queue = bool_of(row[8]),
              .fair = bool_of(row[9]),
              .delay = milliseconds_of(row[10])};
  info.waiters = integer_of(row[11]);
  if (!row[24].is_null()) info.value = row[24].c_str();
  if (!row[25].is_null()) info.request = {integer_of(row[25]), milliseconds_of(row[26]), row[27].c_str()};
  return info;
}

// The rows of a lock follow one another.
std::vector<lock_info> locks_of(const pqxx::result& rows) {
  std::vector<lock_info> locks;
  for (const auto& row : rows) {
    if (locks.empty() || locks.back().row.name != row[0].c_str()) locks.push_back(lock_of(row));
    if (row[12].is_null()) continue;
    locks.back().holders.push_back({.lease = lease_of(row, 12),
                                    .hold = id_of<hold_id>(row[20]),
                                    .weight = integer_of(row[21]),
                                    .mode = model::parse_lock_mode(row[22].c_str()),
                                    .token = integer_of(row[23]),
                                    .held_for = milliseconds_of(row[19]),
                                    .expires_in = milliseconds_of(row[18])});
  }
  return locks;
}

}  // namespace

std::vector<hold_status> postgres_session::find(std::span<const hold_query> holds) {
  const auto ask = [&] {
    if (holds.size() == 1) return connection_.call("find_one", holds[0].name, holds[0].hold.to_string());
    postgres_array names, ids;
    for (const auto& wanted : holds) {
      names.add_text(wanted.name);
      ids.add_id(wanted.hold);
    }
    return connection_.call("find", names.str(), ids.str());
  };
  std::vector<hold_status> result(holds.size());
  for (const auto& row : ask()) {
    const auto at = static_cast<std::size_t>(integer_of(row["n"])) - 1;
    auto& status = result[at];
    status.hold = holds[at].hold;
    if (!row["kind"].is_null()) {
      status.kind = model::parse_lock_kind(row["kind"].c_str());
      status.capacity = integer_of(row["capacity"]);
      status.in_use = integer_of(row["in_use"]);
      status.fair = bool_of(row["fair"]);
    }
    if (!row["held"].is_null() && bool_of(row["held"])) {
      status.state = hold_status::where::held;
      status.token = integer_of(row["token"]);
      status.has_queue = bool_of(row["has_queue"]);
      status.is_asked_for = bool_of(row["is_asked_for"]);
      status.lease = id_of<lease_id>(row["lease_id"]);
      continue;
    }
    status.lease = optional_id_of<lease_id>(row["queued_lease_id"]);
    if (status.lease) status.state = hold_status::where::queued;
    if (const auto due = row["takeover_us"]; !due.is_null()) {
      status.takeover_in = std::chrono::microseconds{integer_of(due)};
    }
  }
  return result;
}

std::vector<lock_info> postgres_session::list() {
  return locks_of(
      connection_.script("list", connection_.settings() + with_scans + connection_.execute("list")));
}

std::optional<lock_info> postgres_session::show(const std::string& name) {
  auto found = locks_of(connection_.call("show", name));
  if (found.empty()) return {};
  return std::move(found.front());
}

std::vector<waiter_info> postgres_session::queue(const std::string& name) {
  std::vector<waiter_info> result;
  for (const auto& row : connection_.call("queue", name)) {
    auto& info = result.emplace_back();
    info.waiter = {integer_of(row[0]), id_of<hold_id>(row[1]), id_of<lease_id>(row[2]), integer_of(row[3]),
                   model::parse_lock_mode(row[4].c_str())};
    info.alive = !row[5].is_null();
    if (info.alive) {
      info.lease = lease_of(row, 5);
      info.expires_in = milliseconds_of(row[11]);
    } else {
      info.lease.id = info.waiter.lease;
    }
  }
  return result;
}

held_page postgres_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  for (const auto& row : connection_.call("read_held", client.to_string(), after, std::to_string(limit))) {
    if (row[1].is_null()) {
      page.next = row[0].c_str();
      continue;
    }
    page.entries.push_back({row[0].c_str(), id_of<hold_id>(row[1]), id_of<lease_id>(row[2]),
                            model::parse_lock_mode(row[3].c_str()), bool_of(row[4])});
  }
  return page;
}

stale postgres_session::find_stale(std::size_t limit, std::chrono::microseconds skew,
                                   const std::string& after) {
  stale found;
  const auto most = std::to_string(limit);
  const auto leases = connection_.settings() + with_scans +
                      connection_.execute("stale_leases", std::to_string(skew.count()), most);
  for (const auto& row : connection_.script("find_stale", leases)) {
    found.expired_leases.push_back(id_of<lease_id>(row[0]));
  }
  for (const auto& row : connection_.call("stale_names", after, most)) {
    if (bool_of(row["is_stale"])) found.names.emplace_back(row["name"].c_str());
    if (bool_of(row["more"])) found.next = row["name"].c_str();
  }
  return found;
}

std::vector<std::string> postgres_session::waited_for() {
  std::vector<std::string> names;
  for (const auto& row : connection_.script(
           "waited_for", connection_.settings() + with_scans + connection_.execute("waited_for"))) {
    names.emplace_back(row[0].c_str());
  }
  return names;
}

}  // namespace rowlock::store
