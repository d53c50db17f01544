#include "store/decode.hpp"

#include "store/lock_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rowlock::store {

namespace {

template <class Read>
auto read_all(rows& from, Read read) {
  std::vector<decltype(read(std::as_const(from)))> result;
  while (from.next()) result.push_back(read(std::as_const(from)));
  return result;
}

lease_record read_lease(const rows& row) {
  return {.id = row.id<lease_id>("id"),
          .client = row.id<lease_id>("client_id"),
          .host = row.text("host"),
          .pid = row.integer("pid"),
          .application = row.text("application"),
          .ttl = row.milliseconds("ttl_ms"),
          .user = row.text("username"),
          .program = row.text("program")};
}

model::waiter read_waiter(const rows& row) {
  return {.ticket = row.integer("ticket"),
          .hold = row.id<hold_id>("hold_id"),
          .lease = row.id<lease_id>("lease_id"),
          .weight = row.integer("weight"),
          .mode = model::parse_lock_mode(row.view("mode"))};
}

lock_info read_lock_info(const rows& row) {
  lock_info info;
  info.row = read_lock_row(row, row.text("name"));
  info.waiters = row.integer("waiters");
  if (!row.null("request_token")) {
    info.request = {.upto = row.integer("request_token"),
                    .within = row.shown_time("request_time"),
                    .reason = row.text("request_reason")};
  }
  return info;
}

std::optional<std::string> optional_text(const rows& row, std::string_view column) {
  return row.null(column) ? std::nullopt : std::optional{row.text(column)};
}

holder_info read_holder(const rows& row) {
  return {.lease = read_lease(row),
          .hold = row.id<hold_id>("holder_id"),
          .weight = row.integer("weight"),
          .mode = model::parse_lock_mode(row.view("mode")),
          .token = row.integer("holder_token"),
          .held_for = row.shown_time("held_time"),
          .expires_in = row.shown_time("expires_time"),
          .data = optional_text(row, "data")};
}

// The lease of a holder or waiter that an edit reads. Empty: the holder or waiter is dead.
std::optional<model::lease_view> read_living(const rows& row) {
  if (row.null("client_id")) return {};
  return model::lease_view{row.id<lease_id>("lease_id"), row.id<lease_id>("client_id"),
                           row.microseconds("expires_us"), row.milliseconds("ttl_ms")};
}

// Values of the column `part`.
enum class part : std::int64_t { lock, queue, own, permit, sum };

}  // namespace

std::vector<grant> read_grants(rows&& from) {
  return read_all(from, [](const rows& row) {
    return grant{.hold = row.id<hold_id>("hold_id"), .token = row.integer("token")};
  });
}

std::vector<hold_id> read_holds(rows&& from) {
  return read_all(from, [](const rows& row) { return row.id<hold_id>("hold_id"); });
}

hand_over_reply read_hand_over(const rows& row) {
  return {.granted = row.id<hold_id>("granted"),
          .client = row.id<lease_id>("client"),
          .token = row.integer("token"),
          .has_queue = row.boolean("has_queue")};
}

std::vector<lease_id> read_leases(rows&& from) {
  return read_all(from, [](const rows& row) { return row.id<lease_id>("id"); });
}

std::vector<std::string> read_names(rows&& from) {
  return read_all(from, [](const rows& row) { return row.text("name"); });
}

database_state read_database_state(const rows& row, std::string identity) {
  return {.identity = std::move(identity),
          .recorded_identity = row.text("recorded_identity"),
          .epoch = model::epoch_of(row.integer("epoch_floor")),
          .skew = row.milliseconds("skew_ms"),
          .marker = row.text("marker"),
          .recordings = row.integer("recordings")};
}

token next_floor(const rows& meta) {
  return model::next_floor(model::epoch_of(meta.integer("epoch_floor")), meta.integer("token_floor"),
                           model::clock_token(meta.microseconds("clock_us")));
}

std::vector<renewal> read_renewals(rows& from) {
  std::vector<renewal> renewed;
  do {
    if (!from.null("id")) renewed.push_back({from.id<lease_id>("id"), from.integer("notice")});
  } while (from.next());
  return renewed;
}

void read_status(const rows& row, hold_status& status) {
  if (row.null("kind")) return;  // no such lock
  status.kind = model::parse_lock_kind(row.view("kind"));
  status.capacity = row.integer("capacity");
  status.in_use = row.integer("in_use");
  status.fair = row.boolean("fair");
  if (!row.null("takeover_us")) status.takeover_in = row.microseconds("takeover_us");
  if (row.boolean("held")) {
    status.state = hold_status::where::held;
    status.token = row.integer("token");
    status.lease = row.id<lease_id>("lease_id");
    status.has_queue = row.boolean("has_queue");
    status.is_asked_for = row.boolean("is_asked_for");
    return;
  }
  status.lease = row.optional_id<lease_id>("queued_lease_id");
  if (status.lease) status.state = hold_status::where::queued;
}

void share_takeovers(std::span<const hold_query> holds, std::span<hold_status> found) {
  std::unordered_map<std::string_view, std::chrono::microseconds> of_names;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (found[i].takeover_in) of_names.emplace(holds[i].name, *found[i].takeover_in);
  }
  for (std::size_t i = 0; i < holds.size(); ++i) {
    auto& status = found[i];
    if (status.state == hold_status::where::held) {
      status.takeover_in.reset();
    } else if (const auto known = of_names.find(holds[i].name); known != of_names.end()) {
      status.takeover_in = known->second;
    }
  }
}

std::vector<hold_status> read_statuses(rows&& from, std::span<const hold_query> holds) {
  std::vector<hold_status> result(holds.size());
  for (std::size_t i = 0; i < holds.size(); ++i) result[i].hold = holds[i].hold;
  while (from.next()) read_status(from, result.at(static_cast<std::size_t>(from.integer("n")) - 1));
  share_takeovers(holds, result);
  return result;
}

std::vector<lock_info> read_locks(rows&& from) {
  std::vector<lock_info> locks;
  while (from.next()) {
    if (locks.empty() || locks.back().row.name != from.view("name")) locks.push_back(read_lock_info(from));
    if (!from.null("id")) locks.back().holders.push_back(read_holder(from));
  }
  return locks;
}

std::optional<lock_info> read_lock(rows&& from) {
  auto found = read_locks(std::move(from));
  if (found.empty()) return {};
  return std::move(found.front());
}

std::vector<waiter_info> read_waiters(rows&& from) {
  return read_all(from, [](const rows& row) {
    waiter_info info;
    info.waiter = read_waiter(row);
    info.alive = !row.null("id");
    if (info.alive) {
      info.lease = read_lease(row);
      info.expires_in = row.shown_time("expires_time");
    } else {
      info.lease.id = info.waiter.lease;
    }
    return info;
  });
}

held_entry read_held_entry(const rows& row) {
  return {.name = row.text("name"),
          .hold = row.id<hold_id>("hold_id"),
          .lease = row.id<lease_id>("lease_id"),
          .mode = model::parse_lock_mode(row.view("mode")),
          .queued = row.boolean("queued")};
}

std::vector<held_entry> read_held_entries(rows&& from) {
  return read_all(from, read_held_entry);
}

stale read_stale_names(rows&& from) {
  stale found;
  while (from.next()) {
    if (from.boolean("is_stale")) found.names.push_back(from.text("name"));
    if (from.boolean("more")) found.next = from.text("name");
  }
  return found;
}

std::vector<recording> read_recordings(rows&& from) {
  return read_all(from, [](const rows& row) {
    return recording{.pattern = row.text("pattern"),
                     .keep = row.integer("keep"),
                     .age = std::chrono::hours{row.integer("age_h")}};
  });
}

std::vector<history_line> read_history(rows&& from) {
  return read_all(from, [](const rows& row) {
    return history_line{.id = row.integer("id"),
                        .entry = {.event = parse_history_event(row.view("event")),
                                  .token = row.integer("token"),
                                  .hold = row.id<hold_id>("hold_id"),
                                  .lease = row.id<lease_id>("lease_id"),
                                  .detail = row.text("detail")},
                        .ago = row.shown_time("ago_time"),
                        .host = row.text("host"),
                        .user = row.text("username"),
                        .pid = row.integer("pid"),
                        .application = row.text("application"),
                        .program = row.text("program")};
  });
}

edit_reader::edit_reader(std::span<const edit_request> requests)
    : results(requests.size(), edit_result::missing), views(requests.size()), requests_{requests} {}

void edit_reader::read(rows&& from) {
  while (from.next()) read(from, static_cast<std::size_t>(from.integer("n")) - 1);
}

void edit_reader::read(const rows& row, std::size_t at) {
  auto& view = views.at(at);
  switch (part{row.integer("part")}) {
    case part::lock: read_lock(row, at); break;
    case part::queue: view.add_waiter(read_waiter(row), read_living(row)); break;
    case part::own: view.own = read_waiter(row); break;
    case part::permit: read_permit(row, at); break;
    case part::sum: read_sum(row, at); break;
  }
}

void edit_reader::read_permit(const rows& row, std::size_t at) {
  auto& view = views[at];
  view.permits.push_back({.permit = {row.id<hold_id>("hold_id"), row.id<lease_id>("lease_id"),
                                     row.integer("weight"), row.integer("token")},
                          .lease = read_living(row),
                          .guarded = !row.boolean("replaceable")});
  view.unread_weight = std::max<std::int64_t>(view.unread_weight - row.integer("weight"), 0);
}

// The row of the sum comes after the rows of the permits.
void edit_reader::read_sum(const rows& row, std::size_t at) {
  auto& view = views[at];
  view.unread_weight = row.integer("weight");
  for (const auto& entry : view.permits) view.unread_weight -= entry.permit.weight;
  view.unread_takeover_in = row.microseconds("expires_us");
}

void edit_reader::read_lock(const rows& row, std::size_t at) {
  if (!row.boolean("found")) return;
  results[at] = row.boolean("taken") ? edit_result::committed : edit_result::skipped;
  if (results[at] == edit_result::skipped) return;
  auto& view = views[at];
  view.row = read_lock_row(row, requests_[at].name);
  view.replaceable = row.boolean("replaceable");
  view.holder = read_living(row);
  view.epoch_floor = row.integer("epoch_floor");
  view.is_recorded_server = row.boolean("is_recorded_server");
  // The lock's row comes before its permits, and read_permit() subtracts the weight of each from
  // unread_weight. Beside an exclusive holder there are no permits.
  if (requests_[at].permits_of && !view.row.lease) view.unread_weight = view.row.in_use;
}

bool edit_reader::reads_all_permits() const {
  return std::ranges::any_of(requests_, [](const auto& one) { return !one.permits_of; });
}

void edit_reader::read_data(rows&& from, std::size_t at) {
  if (from.next()) views.at(at).data = optional_text(from, "data");
}

bool edit_reader::needs_data(std::size_t at) const {
  return requests_[at].with_data && results[at] == edit_result::committed;
}

schema_state read_schema_state(rows&& from) {
  if (!from.next()) return {};
  return {.version = static_cast<int>(from.integer("schema_version")),
          .min_library = static_cast<int>(from.integer("min_library"))};
}

std::vector<ledger_entry> read_ledger(rows&& from) {
  return read_all(from, [](const rows& row) {
    return ledger_entry{.version = static_cast<int>(row.integer("version")),
                        .title = row.text("title"),
                        .checksum = row.text("checksum"),
                        .applied_at = row.text("applied_at")};
  });
}

std::vector<std::string> read_columns(rows&& from, std::string_view prefix) {
  auto lines = read_all(from, [&](const rows& row) {
    return fmt::format("rowlock_{}.{} {}{}", row.view("table_name").substr(prefix.size()),
                       row.view("column_name"), row.view("column_type"),
                       row.boolean("not_null") ? " not null" : "");
  });
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace rowlock::store
