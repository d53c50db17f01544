#include "memory/memory_views.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;

bool is_asked_for(const memory_lock& lock, token held) {
  return lock.request && lock.request->upto >= held;
}

std::chrono::milliseconds in_milliseconds(timestamp duration) {
  return std::chrono::floor<std::chrono::milliseconds>(duration);
}

// The permits in the order of their grants.
std::vector<const memory_permit*> permits_of(const memory_transaction& transaction, const std::string& name) {
  std::vector<const memory_permit*> result;
  const auto found = transaction.tables.permits.find(name);
  if (found == transaction.tables.permits.end()) return result;
  for (const auto& [hold, held] : found->second) result.push_back(&held);
  std::ranges::sort(result, {}, [](const auto* held) { return held->permit.token; });
  return result;
}

// As lock_view::unread_takeover_in.
std::chrono::microseconds first_takeover_of(const memory_transaction& transaction, const std::string& name) {
  std::optional<timestamp> first;
  for (const auto* held : permits_of(transaction, name)) {
    const memory_lease* lease = transaction.tables.find_lease(held->permit.lease);
    const auto ends_in = lease ? lease->expires_at - transaction.now : 0us;
    const auto due = lease && ends_in > lease->record.ttl ? 0us : ends_in;
    if (!first || due < *first) first = due;
  }
  return first.value_or(0us);
}

}  // namespace

database_state world_of(const memory_transaction& transaction) {
  return {.identity = transaction.identity,
          .recorded_identity = transaction.tables.recorded_identity,
          .epoch = transaction.tables.epoch,
          .skew = transaction.tables.skew,
          .marker = transaction.marker,
          .recordings = transaction.tables.recordings_version};
}

std::optional<model::lease_view> view_of_lease(const memory_transaction& transaction, const lease_id& id) {
  const memory_lease* lease = transaction.tables.find_lease(id);
  if (!lease) return {};
  return model::lease_view{id, lease->record.client, lease->expires_at - transaction.now, lease->record.ttl};
}

lock_view view_of(const memory_transaction& transaction, const edit_request& request) {
  lock_view view;
  const auto& lock = transaction.tables.locks.at(request.name);
  view.row = lock.row;
  if (request.with_data && lock.row.hold == request.about) view.data = lock.value;
  view.replaceable = !transaction.guards.contains(request.name);
  if (view.row.lease) view.holder = view_of_lease(transaction, *view.row.lease);
  for (const auto* held : permits_of(transaction, request.name)) {
    if (request.permits_of && std::ranges::count(*request.permits_of, held->permit.hold) == 0) {
      view.unread_weight += held->permit.weight;
      continue;
    }
    view.permits.push_back({held->permit, view_of_lease(transaction, held->permit.lease),
                            transaction.is_guarded(request.name, held->permit.hold)});
    if (request.with_data && held->permit.hold == request.about) view.data = held->data;
  }
  if (needs_sum(request, view.row)) view.unread_takeover_in = first_takeover_of(transaction, request.name);
  if (const auto queue = transaction.tables.queues.find(request.name);
      queue != transaction.tables.queues.end()) {
    for (const auto& [ticket, waiter] : queue->second) {
      if (!request.about.is_nil() && waiter.hold == request.about) view.own = waiter;
      view.add_waiter(waiter, view_of_lease(transaction, waiter.lease));
    }
  }
  view.epoch_floor = transaction.tables.floor();
  view.is_recorded_server = transaction.is_recorded_server();
  return view;
}

lock_info info_of(const memory_transaction& transaction, const memory_lock& lock) {
  lock_info info;
  info.row = lock.row;
  info.request = lock.request;
  if (info.request) {
    info.request->within = std::max(in_milliseconds(lock.request_until - transaction.now), 0ms);
  }
  const auto add = [&](const model::permit& held, model::lock_mode mode, timestamp since,
                       const std::optional<std::string>& data) {
    const memory_lease* lease = transaction.tables.find_lease(held.lease);
    if (!lease) return;
    info.holders.push_back({.lease = lease->record,
                            .hold = held.hold,
                            .weight = held.weight,
                            .mode = mode,
                            .token = held.token,
                            .held_for = in_milliseconds(transaction.now - since),
                            .expires_in = in_milliseconds(lease->expires_at - transaction.now),
                            .data = data});
  };
  const auto& row = lock.row;
  if (row.lease)
    add({*row.hold, *row.lease, row.capacity, row.token}, model::lock_mode::exclusive, lock.used_at,
        lock.value);
  for (const auto* held : permits_of(transaction, row.name))
    add(held->permit, model::lock_mode::shared, held->granted_at, held->data);
  if (const auto queue = transaction.tables.queues.find(lock.row.name);
      queue != transaction.tables.queues.end()) {
    info.waiters = std::ranges::count_if(queue->second, [&](const auto& one) {
      return transaction.tables.find_lease(one.second.lease) != nullptr;
    });
  }
  return info;
}

hold_status status_of(const memory_transaction& transaction, const hold_query& query) {
  hold_status status;
  status.hold = query.hold;
  const auto found = transaction.tables.locks.find(query.name);
  if (found == transaction.tables.locks.end()) return status;
  const model::lock_row& row = found->second.row;
  status.kind = row.kind;
  status.capacity = row.capacity;
  status.in_use = row.in_use;
  status.fair = row.fair;

  const memory_lease* holder = row.lease ? transaction.tables.find_lease(*row.lease) : nullptr;
  // A hold whose lease is dead does not count, whatever the row still says.
  if (holder && row.hold == query.hold) {
    status.state = hold_status::where::held;
    status.token = row.token;
    status.has_queue = row.has_queue;
    status.is_asked_for = is_asked_for(found->second, row.token);
    status.lease = row.lease;
    return status;
  }
  std::optional<timestamp> takeover_in;
  const auto consider = [&](const memory_lease* lease) {
    const auto ends_in = lease ? lease->expires_at - transaction.now : 0us;
    const auto due = lease && ends_in > 2 * lease->record.ttl ? 0us : ends_in;
    if (!takeover_in || due < *takeover_in) takeover_in = due;
  };
  if (row.lease) consider(holder);
  for (const auto* held : permits_of(transaction, query.name)) {
    const memory_lease* lease = transaction.tables.find_lease(held->permit.lease);
    if (lease && held->permit.hold == query.hold) {
      status.state = hold_status::where::held;
      status.token = held->permit.token;
      status.has_queue = row.has_queue;
      status.is_asked_for = is_asked_for(found->second, held->permit.token);
      status.lease = held->permit.lease;
      return status;
    }
    if (row.kind != model::lock_kind::latch) consider(lease);
  }
  if (const auto queue = transaction.tables.queues.find(query.name);
      takeover_in && !row.lease && queue != transaction.tables.queues.end()) {
    consider(transaction.tables.find_lease(queue->second.begin()->second.lease));
  }
  status.takeover_in = takeover_in.value_or(0us);
  if (const auto queue = transaction.tables.queues.find(query.name);
      queue != transaction.tables.queues.end()) {
    for (const auto& [ticket, waiter] : queue->second) {
      if (waiter.hold != query.hold || !transaction.tables.find_lease(waiter.lease)) continue;
      status.state = hold_status::where::queued;
      status.lease = waiter.lease;
    }
  }
  return status;
}

std::vector<waiter_info> queue_of(const memory_transaction& transaction, const std::string& name) {
  std::vector<waiter_info> result;
  const auto found = transaction.tables.queues.find(name);
  if (found == transaction.tables.queues.end()) return result;
  for (const auto& [ticket, waiter] : found->second) {
    waiter_info info;
    info.waiter = waiter;
    info.lease.id = waiter.lease;
    const memory_lease* lease = transaction.tables.find_lease(waiter.lease);
    info.alive = lease != nullptr;
    if (lease) {
      info.lease = lease->record;
      info.expires_in = in_milliseconds(lease->expires_at - transaction.now);
    }
    result.push_back(std::move(info));
  }
  return result;
}

held_page held_of(const memory_transaction& transaction, const lease_id& client, const std::string& after,
                  std::size_t limit) {
  const memory_tables& tables = transaction.tables;
  held_page page;
  std::size_t names = 0;
  for (auto at = tables.locks.upper_bound(after); at != tables.locks.end() && names < limit; ++at, ++names) {
    const auto& name = at->first;
    const auto& lock = at->second;
    const auto add = [&](const hold_id& hold, const lease_id& id, model::lock_mode mode, bool queued) {
      const memory_lease* lease = tables.find_lease(id);
      if (lease && lease->record.client == client) page.entries.push_back({name, hold, id, mode, queued});
    };
    if (lock.row.lease) add(*lock.row.hold, *lock.row.lease, model::lock_mode::exclusive, false);
    for (const auto* held : permits_of(transaction, name)) {
      add(held->permit.hold, held->permit.lease, model::lock_mode::shared, false);
    }
    if (const auto queue = tables.queues.find(name); queue != tables.queues.end()) {
      for (const auto& [ticket, waiter] : queue->second) add(waiter.hold, waiter.lease, waiter.mode, true);
    }
    if (names + 1 == limit) page.next = name;
  }
  return page;
}

stale stale_of(const memory_transaction& transaction, std::size_t limit, std::chrono::microseconds skew,
               const std::string& after) {
  const memory_tables& tables = transaction.tables;
  stale result;
  for (const auto& [id, lease] : tables.leases) {
    if (result.leases.size() < limit &&
        (lease.expires_at + skew <= transaction.now || is_too_long(lease, transaction.now, skew))) {
      result.leases.push_back(id);
    }
  }
  const auto dead = [&](const lease_id& id) { return tables.find_lease(id) == nullptr; };
  std::size_t read = 0;
  for (auto at = tables.locks.upper_bound(after); at != tables.locks.end(); ++at) {
    const auto& [name, lock] = *at;
    const auto queue = tables.queues.find(name);
    const bool permits_die = lock.row.kind != model::lock_kind::latch;
    const bool names_dead =
        (lock.row.lease && dead(*lock.row.lease)) ||
        (permits_die && std::ranges::any_of(permits_of(transaction, name),
                                            [&](const auto* held) { return dead(held->permit.lease); })) ||
        (queue != tables.queues.end() &&
         std::ranges::any_of(queue->second, [&](const auto& one) { return dead(one.second.lease); }));
    if (names_dead) result.names.push_back(name);
    if (++read < limit) continue;
    result.next = name;
    break;
  }
  return result;
}

}  // namespace rowlock::store
