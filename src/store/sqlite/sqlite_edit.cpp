// The slow path: one transaction that reads, decides and writes.
#include "store/sqlite/sqlite_session.hpp"

#include <algorithm>

namespace rowlock::store {
namespace {

// With somebody else's transaction, which is waited for twice that long: the edit comes again.
constexpr std::chrono::milliseconds patience_of_an_edit{25};

std::optional<model::lease_view> lease_view_of(const sqlite_query& row, const std::optional<lease_id>& id,
                                               int client, int expires_in) {
  if (!id || row.null(client)) return {};
  return model::lease_view{*id, row.id<lease_id>(client), std::chrono::microseconds{row.integer(expires_in)}};
}

}  // namespace

void sqlite_session::create(std::span<const model::lock_definition> locks) {
  writing transaction{*this, durability::durable};
  std::int64_t created = 0;
  for (const auto& lock : locks) {
    created += connection_
                   .query("create_lock", lock.name, to_string(lock.kind), lock.capacity,
                          std::int64_t{lock.fair}, std::int64_t{lock.delay.count()})
                   .run();
  }
  if (created > 0) transaction.finish();
}

std::vector<edit_result> sqlite_session::edit_together(std::span<const edit_request> requests,
                                                       const joint_decision& decide) {
  std::vector<edit_result> results(requests.size(), edit_result::committed);
  std::vector<lock_view> views(requests.size());
  // Always durable: SQLite wants to know before the transaction begins, and only its end tells what is
  // granted.
  writing transaction{*this, durability::durable, patience_of_an_edit};
  if (!transaction) {
    std::fill(results.begin(), results.end(), edit_result::skipped);
    decide(results, views);
    return results;
  }
  const database_state now = world_now();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto view = view_of(requests[i], now)) {
      views[i] = std::move(*view);
    } else {
      results[i] = edit_result::missing;
    }
  }
  const auto changes = decide(results, views);
  const auto empty = [](const lock_change& change) { return change.empty(); };
  if (std::all_of(changes.begin(), changes.end(), empty)) return results;
  for (std::size_t i = 0; i < requests.size(); ++i) apply(requests[i].name, changes[i]);
  transaction.finish();
  return results;
}

std::optional<lock_view> sqlite_session::view_of(const edit_request& request, const database_state& now) {
  lock_view view;
  {
    auto query = connection_.query("edit_lock", request.name);
    if (!query.next()) return {};
    view.row = {.name = request.name,
                .kind = model::parse_lock_kind(query.text(0)),
                .capacity = query.integer(1),
                .in_use = query.integer(2),
                .token = query.integer(3),
                .next_ticket = query.integer(4),
                .lease = query.optional_id<lease_id>(5),
                .hold = query.optional_id<hold_id>(6),
                .has_queue = query.integer(7) != 0,
                .fair = query.integer(8) != 0,
                .delay = std::chrono::milliseconds{query.integer(9)}};
    view.holder = lease_view_of(query, view.row.lease, 10, 11);
  }
  for (auto query = connection_.query("edit_permits", request.name); query.next();) {
    const model::permit permit{query.id<hold_id>(0), query.id<lease_id>(1), query.integer(2),
                               query.integer(3)};
    view.permits.push_back({permit, lease_view_of(query, permit.lease, 4, 5)});
  }
  for (auto query = connection_.query("edit_queue", request.name, std::int64_t{queue_window + 1});
       query.next();) {
    const model::waiter waiter{query.integer(0), query.id<hold_id>(1), query.id<lease_id>(2),
                               query.integer(3), model::parse_lock_mode(query.text(4))};
    view.add_waiter(waiter, lease_view_of(query, waiter.lease, 5, 6));
  }
  if (!request.about.is_nil()) {
    auto query = connection_.query("edit_own", request.name, request.about);
    if (query.next()) {
      view.own = model::waiter{query.integer(0), request.about, query.id<lease_id>(1), query.integer(2),
                               model::parse_lock_mode(query.text(3))};
    }
  }
  view.epoch_floor = model::epoch_floor(now.epoch);
  view.is_recorded_server = now.identity == now.recorded_identity;
  return view;
}

void sqlite_session::apply(const std::string& name, const lock_change& change) {
  for (const auto& made : change.create_leases) insert_lease(made);
  if (const auto& row = change.row) {
    connection_
        .query("write_lock", row->name, row->capacity, row->in_use, row->token, row->next_ticket, row->lease,
               row->hold, std::int64_t{row->has_queue}, std::int64_t{change.granted_now})
        .run();
  }
  if (change.value) connection_.query("write_value", name, *change.value).run();
  if (const auto& asked = change.request) {
    connection_.query("write_request", name, asked->upto, std::int64_t{asked->within.count()}, asked->reason)
        .run();
  }
  for (const auto& hold : change.remove_permits) connection_.query("remove_permits", name, hold).run();
  for (const auto& permit : change.add_permits) {
    connection_.query("add_permits", name, permit.hold, permit.lease, permit.weight, permit.token).run();
  }
  for (const auto& hold : change.dequeue) connection_.query("dequeue", name, hold).run();
  for (const auto& waiter : change.enqueue) {
    connection_
        .query("enqueue", name, waiter.ticket, waiter.hold, waiter.lease, waiter.weight,
               to_string(waiter.mode))
        .run();
  }
  for (const auto& id : change.end_leases) connection_.query("end_lease", id).run();
  for (const auto& id : change.notices) connection_.query("notice", id).run();
}

}  // namespace rowlock::store
