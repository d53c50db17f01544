// What reads, and locks nothing.
#include "store/mysql/mysql_json.hpp"
#include "store/mysql/mysql_list.hpp"
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

namespace {

constexpr std::size_t lock_columns = 28;

std::chrono::milliseconds milliseconds_of(const mysql_field& field) {
  return std::chrono::milliseconds{integer_of(field)};
}

// id, client_id, host, pid, application, ttl_ms.
lease_record lease_of(const mysql_row& row, std::size_t first) {
  return {.id = id_of<lease_id>(row[first]),
          .client = id_of<lease_id>(row[first + 1]),
          .host = text_of(row[first + 2]),
          .pid = integer_of(row[first + 3]),
          .application = text_of(row[first + 4]),
          .ttl = milliseconds_of(row[first + 5])};
}

// A row of list and show, without its holder.
lock_info lock_of(const mysql_row& row) {
  lock_info info;
  info.row = {.name = text_of(row[0]),
              .kind = model::parse_lock_kind(text_of(row[1])),
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
  if (row[24]) info.value = text_of(row[24]);
  if (row[25]) info.request = {integer_of(row[25]), milliseconds_of(row[26]), text_of(row[27])};
  return info;
}

// The rows of a lock follow one another.
std::vector<lock_info> locks_of(const mysql_rows& rows) {
  std::vector<lock_info> locks;
  for (const auto& row : rows) {
    if (locks.empty() || locks.back().row.name != text_of(row[0])) locks.push_back(lock_of(row));
    if (!row[12]) continue;
    locks.back().holders.push_back({.lease = lease_of(row, 12),
                                    .hold = id_of<hold_id>(row[20]),
                                    .weight = integer_of(row[21]),
                                    .mode = model::parse_lock_mode(text_of(row[22])),
                                    .token = integer_of(row[23]),
                                    .held_for = milliseconds_of(row[19]),
                                    .expires_in = milliseconds_of(row[18])});
  }
  return locks;
}

}  // namespace

std::vector<hold_status> mysql_session::find(std::span<const hold_query> holds) {
  std::vector<hold_status> result(holds.size());
  if (holds.empty()) return result;
  mysql_json asked;
  for (const auto& wanted : holds) asked.row().hex(wanted.name).id(wanted.hold).end_row();
  for (const auto& row : connection_.read("find", 12, {{"holds", asked.str()}})) {
    const auto at = static_cast<std::size_t>(integer_of(row[0])) - 1;
    auto& status = result.at(at);
    status.hold = holds[at].hold;
    if (row[6]) {
      status.kind = model::parse_lock_kind(*row[6]);
      status.capacity = integer_of(row[7]);
      status.in_use = integer_of(row[9]);
      status.fair = bool_of(row[10]);
    }
    if (bool_of(row[1])) {
      status.state = hold_status::where::held;
      status.token = integer_of(row[2]);
      status.has_queue = bool_of(row[8]);
      status.is_asked_for = bool_of(row[11]);
      status.lease = id_of<lease_id>(row[3]);
      continue;
    }
    status.lease = optional_id_of<lease_id>(row[4]);
    if (status.lease) status.state = hold_status::where::queued;
    if (row[5]) status.takeover_in = std::chrono::microseconds{integer_of(row[5])};
  }
  return result;
}

std::vector<lock_info> mysql_session::list() {
  return locks_of(connection_.read("list", lock_columns));
}

std::optional<lock_info> mysql_session::show(const std::string& name) {
  auto found = locks_of(connection_.read("show", lock_columns, {mysql_text("name", name)}));
  if (found.empty()) return {};
  return std::move(found.front());
}

std::vector<waiter_info> mysql_session::queue(const std::string& name) {
  std::vector<waiter_info> result;
  for (const auto& row : connection_.read("queue", 12, {mysql_text("name", name)})) {
    auto& info = result.emplace_back();
    info.waiter = {integer_of(row[0]), id_of<hold_id>(row[1]), id_of<lease_id>(row[2]), integer_of(row[3]),
                   model::parse_lock_mode(text_of(row[4]))};
    info.alive = row[5].has_value();
    if (info.alive) {
      info.lease = lease_of(row, 5);
      info.expires_in = milliseconds_of(row[11]);
    } else {
      info.lease.id = info.waiter.lease;
    }
  }
  return result;
}

held_page mysql_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  held_page page;
  const auto most = static_cast<long long>(limit);
  const mysql_value from{"after", mysql_literals{mysql_literal(after)}};
  const auto ends = connection_.read("page_end", 2, {from, {"most", most}});
  if (ends.empty() || !ends.front()[0]) return page;
  const auto last = text_of(ends.front()[0]);
  if (integer_of(ends.front()[1]) == most) page.next = last;
  const mysql_values values{
      {"client", mysql_literals{mysql_literal(client)}}, from, {"last", mysql_literals{mysql_literal(last)}}};
  for (const auto& row : connection_.read("read_held", 5, values)) {
    page.entries.push_back({text_of(row[0]), id_of<hold_id>(row[1]), id_of<lease_id>(row[2]),
                            model::parse_lock_mode(text_of(row[3])), bool_of(row[4])});
  }
  return page;
}

stale mysql_session::find_stale(std::size_t limit, std::chrono::microseconds skew, const std::string& after) {
  stale found;
  const mysql_value most{"most", static_cast<std::int64_t>(limit)};
  for (const auto& row : connection_.read("stale_leases", 1, {{"skew_us", skew.count()}, most})) {
    found.expired_leases.push_back(id_of<lease_id>(row[0]));
  }
  const auto page = connection_.read("stale_names", 2, {mysql_text("after", after), most});
  for (const auto& row : page) {
    if (bool_of(row[1])) found.names.push_back(text_of(row[0]));
  }
  if (page.size() == limit) found.next = text_of(page.back()[0]);
  return found;
}

std::vector<std::string> mysql_session::waited_for() {
  std::vector<std::string> names;
  for (const auto& row : connection_.read("waited_for", 1)) names.push_back(text_of(row[0]));
  return names;
}

}  // namespace rowlock::store
