#include "memory/memory_session.hpp"

#include "memory/memory_check.hpp"
#include "memory/memory_views.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace rowlock::store {

namespace {

using namespace std::chrono_literals;

template <class T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

token clock_token(const memory_transaction& transaction) {
  constexpr timestamp start = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}.time_since_epoch();
  return model::clock_token(transaction.now - start);
}

void raise_epoch_above(memory_transaction& transaction, token above) {
  memory_tables& tables = transaction.tables;
  tables.token_floor =
      std::max(model::next_floor(tables.epoch, tables.token_floor, clock_token(transaction)), above);
  tables.epoch = model::epoch_of(tables.token_floor);
  transaction.wrote = true;
}

// Lengthens the leases for a new server. Leases that had expired when another one was renewed, or a day ago, are dead
// and stay so.
void lengthen_leases(memory_transaction& transaction) {
  for (auto& [id, lease] : transaction.tables.leases) {
    if (lease.expires_at > transaction.now - 24h) lease.expires_at = transaction.now + lease.record.ttl;
  }
}

bool is_as_asked(const model::lock_row& row, const acquire_item& request) {
  return row.kind != model::lock_kind::unknown && row.kind == request.kind &&
         row.capacity == request.capacity && row.fair == request.fair;
}

bool grant_exclusive(const memory_transaction& transaction, model::lock_row& row,
                     const acquire_item& request) {
  if (row.in_use != 0) return false;
  row.lease = request.lease;
  row.hold = request.hold;
  row.in_use = row.capacity;
  row.token = model::next_token(row.token, transaction.tables.floor());
  return true;
}

bool grant_shared(memory_transaction& transaction, model::lock_row& row, const acquire_item& request) {
  if (row.in_use + request.weight > row.capacity) return false;
  const auto held = transaction.tables.permits.find(row.name);
  if (held != transaction.tables.permits.end() && held->second.contains(request.hold)) return false;
  row.in_use += request.weight;
  row.token = model::next_token(row.token, transaction.tables.floor());
  const model::permit permit{request.hold, request.lease, request.weight, row.token};
  transaction.tables.permits[row.name].insert({request.hold, {permit, transaction.now}});
  return true;
}

bool free_exclusive(model::lock_row& row, const release_item& request) {
  if (row.hold != request.hold || row.lease != request.lease) return false;
  row.lease.reset();
  row.hold.reset();
  row.in_use = 0;
  return true;
}

bool free_shared(memory_transaction& transaction, model::lock_row& row, const release_item& request) {
  const auto permits = transaction.tables.permits.find(row.name);
  if (permits == transaction.tables.permits.end()) return false;
  const auto held = permits->second.find(request.hold);
  if (held == permits->second.end() || held->second.permit.lease != request.lease) return false;
  row.in_use -= held->second.permit.weight;
  permits->second.erase(held);
  if (permits->second.empty()) transaction.tables.permits.erase(permits);
  return true;
}

void apply(memory_transaction& transaction, const std::string& name, const lock_change& change) {
  memory_tables& tables = transaction.tables;
  memory_lock& lock = tables.locks.at(name);
  if (change.row) lock.row = *change.row;
  if (change.value) lock.value = change.value;
  if (change.request) {
    lock.request = change.request;
    lock.request_until = transaction.now + change.request->within;
  }
  if (change.granted_now) lock.used_at = transaction.now;
  auto& permits = tables.permits[name];
  for (const hold_id& gone : change.remove_permits) {
    const bool is_replaced = std::ranges::count(change.add_permits, gone, &model::permit::hold) > 0;
    if (!is_replaced) permits.erase(gone);
  }
  for (const model::permit& added : change.add_permits) {
    permits.try_emplace(added.hold, memory_permit{added, transaction.now}).first->second.permit = added;
  }
  for (const permit_data& said : change.data) {
    if (const auto held = permits.find(said.hold); held != permits.end()) held->second.data = said.text;
  }
  if (permits.empty()) tables.permits.erase(name);
  auto& queue = tables.queues[name];
  std::erase_if(queue,
                [&](const auto& one) { return std::ranges::count(change.dequeue, one.second.hold) > 0; });
  for (const model::waiter& added : change.enqueue) queue.insert({added.ticket, added});
  if (queue.empty()) tables.queues.erase(name);
  for (const lease_record& made : change.create_leases) {
    tables.leases.insert({made.id, {made, transaction.now + made.ttl}});
  }
  add_history(transaction, name, change);
  for (const lease_id& id : change.end_leases) tables.leases.erase(id);
  for (const lease_id& id : change.notices) {
    if (const auto lease = tables.leases.find(id); lease != tables.leases.end()) ++lease->second.notice;
  }
}

}  // namespace

memory_session::memory_session(std::shared_ptr<memory_server> server) : server_(std::move(server)) {
  const std::lock_guard lock{server_->mutex_};
  if (server_->names_backends_) backend_ = "memory-" + std::to_string(server_->next_backend_++);
  node_ = server_->next_node_++ % server_->nodes_.size();
  server_->sessions_.insert(this);
}

memory_session::~memory_session() {
  const std::lock_guard lock{server_->mutex_};
  server_->sessions_.erase(this);
}

void memory_session::throw_if_broken() {
  const std::lock_guard lock{server_->mutex_};
  if (broken_) throw_unreachable(false);
}

void memory_session::note_failure() {
  try {
    throw;
  } catch (const error& failure) {
    const std::lock_guard lock{server_->mutex_};
    if (failure.code() == errc::unreachable) broken_ = true;
    if (failure.code() == errc::internal && server_->observer_ != nullptr)
      server_->observer_->refused(failure.what());
  } catch (...) {
    // The caller sees the failure.
  }
}

void memory_session::add_ghost(std::function<void(memory_transaction&)> work) {
  const std::lock_guard lock{server_->mutex_};
  server_->ghosts_.push_back({backend_, std::move(work)});
}

// ---- the state of the database ----

database_state memory_session::read_database_state() {
  return run("read_database_state", [](memory_transaction& transaction) { return world_of(transaction); });
}

database_state memory_session::record_database_state() {
  return run("record_database_state", [](memory_transaction& transaction) {
    memory_tables& tables = transaction.tables;
    if (transaction.marker.empty()) transaction.marker = model::id128::random().to_string();
    if (!transaction.is_recorded_server()) {
      raise_epoch_above(transaction, 0);
      tables.recorded_identity = transaction.identity;
      lengthen_leases(transaction);
    }
    return world_of(transaction);
  });
}

std::int64_t memory_session::raise_epoch(token above) {
  return run("raise_epoch", [above](memory_transaction& transaction) {
    raise_epoch_above(transaction, model::floor_above(above));
    return transaction.tables.epoch;
  });
}

void memory_session::set_skew(std::chrono::milliseconds skew) {
  run("set_skew", [skew](memory_transaction& transaction) {
    transaction.tables.skew = skew;
    return transaction.wrote = true;
  });
}

// ---- leases ------------------------------------------------------------------------------------------

void memory_session::create_lease(const lease_record& lease) {
  run("create_lease", [lease](memory_transaction& transaction) {
    // If the request is sent again after a lost answer, it renews the lease, but does not revive one that was killed.
    auto& stored =
        transaction.tables.leases.try_emplace(lease.id, memory_lease{lease, timestamp::max()}).first->second;
    if (stored.expires_at <= transaction.now)
      throw error(errc::database, "the lease exists already and has expired");
    stored.expires_at = transaction.now + stored.record.ttl;
    return transaction.wrote = true;
  });
}

renewal_reply memory_session::renew(std::span<const lease_id> leases) {
  return run("renew", [ids = copy_of(leases)](memory_transaction& transaction) {
    renewal_reply reply;
    for (const lease_id& id : ids) {
      const auto found = transaction.tables.leases.find(id);
      if (found == transaction.tables.leases.end() || found->second.expires_at <= transaction.now) continue;
      found->second.expires_at = transaction.now + found->second.record.ttl;
      reply.renewed.push_back({id, found->second.notice});
      transaction.wrote = true;
    }
    reply.database_state = world_of(transaction);
    return reply;
  });
}

std::vector<lease_id> memory_session::kill(std::span<const lease_id> leases, std::chrono::microseconds skew) {
  return run("kill", [ids = copy_of(leases), skew](memory_transaction& transaction) {
    std::vector<lease_id> killed;
    if (!transaction.is_recorded_server()) return killed;
    for (const lease_id& id : ids) {
      const auto found = transaction.tables.leases.find(id);
      if (found == transaction.tables.leases.end() || transaction.locked_rows.contains(id.to_string()))
        continue;
      auto& lease = found->second;
      if (is_too_long(lease, transaction.now, skew)) {
        lease.expires_at = transaction.now + lease.record.ttl;
        transaction.wrote = true;
      } else if (lease.expires_at + skew <= transaction.now) {
        transaction.tables.leases.erase(found);
        killed.push_back(id);
        transaction.wrote = true;
      }
    }
    return killed;
  });
}

void memory_session::end(std::span<const lease_id> leases) {
  run("end", [ids = copy_of(leases)](memory_transaction& transaction) {
    for (const lease_id& id : ids) transaction.tables.leases.erase(id);
    return transaction.wrote = true;
  });
}

// ---- fast path ---------------------------------------------------------------------------------------

std::vector<grant> memory_session::acquire(std::span<const acquire_item> requests) {
  return run("acquire", [wanted = copy_of(requests)](memory_transaction& transaction) {
    std::vector<grant> grants;
    if (!transaction.is_recorded_server()) return grants;
    std::set<std::string> refused;  // names whose later requests must not pass an earlier one
    for (const acquire_item& request : wanted) {
      const auto found = transaction.tables.locks.find(request.name);
      if (found == transaction.tables.locks.end() || transaction.locked_rows.contains(request.name)) continue;
      model::lock_row& row = found->second.row;
      if (!is_as_asked(row, request) || row.lease || (row.has_queue && row.fair)) continue;
      if (refused.contains(request.name)) continue;
      const bool granted = request.mode == model::lock_mode::shared
                               ? grant_shared(transaction, row, request)
                               : grant_exclusive(transaction, row, request);
      if (!granted) {
        refused.insert(request.name);
        continue;
      }
      found->second.used_at = transaction.now;
      grants.push_back({request.hold, row.token});
    }
    transaction.wrote = !grants.empty();
    return grants;
  });
}

std::vector<grant> memory_session::acquire_all(std::span<const acquire_item> requests) {
  return run("acquire_all", [wanted = copy_of(requests)](memory_transaction& transaction) {
    std::vector<grant> grants;
    const auto is_free = [&](const acquire_item& request) {
      const auto found = transaction.tables.locks.find(request.name);
      if (found == transaction.tables.locks.end() || transaction.locked_rows.contains(request.name))
        return false;
      const model::lock_row& row = found->second.row;
      return is_as_asked(row, request) && !row.lease && row.in_use == 0 && !(row.has_queue && row.fair);
    };
    if (!transaction.is_recorded_server() || !std::ranges::all_of(wanted, is_free)) return grants;
    for (const acquire_item& request : wanted) {
      auto& lock = transaction.tables.locks.at(request.name);
      grant_exclusive(transaction, lock.row, request);
      lock.used_at = transaction.now;
      grants.push_back({request.hold, lock.row.token});
    }
    transaction.wrote = true;
    return grants;
  });
}

std::vector<hold_id> memory_session::release(std::span<const release_item> requests, durability how) {
  return run("release", [given = copy_of(requests), how](memory_transaction& transaction) {
    std::vector<hold_id> released;
    for (const release_item& request : given) {
      const auto found = transaction.tables.locks.find(request.name);
      if (found == transaction.tables.locks.end()) continue;
      const bool shared = request.mode == model::lock_mode::shared;
      const bool guarded = shared ? transaction.is_guarded(request.name, request.hold)
                                  : transaction.guards.contains(request.name);
      if (transaction.locked_rows.contains(request.name) || guarded) continue;
      model::lock_row& row = found->second.row;
      if (row.has_queue && row.fair) continue;
      const bool freed = shared ? free_shared(transaction, row, request) : free_exclusive(row, request);
      if (!freed) continue;
      if (request.ends_lease) transaction.tables.leases.erase(request.lease);
      released.push_back(request.hold);
    }
    transaction.wrote = !released.empty();
    transaction.how = how;
    return released;
  });
}

std::optional<std::chrono::microseconds> memory_session::enqueue(const acquire_item& request,
                                                                 std::chrono::microseconds skew) {
  using answer = std::optional<std::chrono::microseconds>;
  return run("enqueue", [request, skew](memory_transaction& transaction) -> answer {
    memory_tables& tables = transaction.tables;
    transaction.how = durability::asynchronous;
    const auto found = tables.locks.find(request.name);
    if (found == tables.locks.end() || transaction.locked_rows.contains(request.name)) return {};
    model::lock_row& row = found->second.row;
    if (!is_as_asked(row, request) || !row.lease) return {};
    const memory_lease* holder = tables.find_lease(*row.lease);
    if (!holder || holder->expires_at + skew <= transaction.now || row.hold == request.hold) return {};
    if (holder->expires_at > transaction.now + 2 * holder->record.ttl) return {};
    auto& queue = tables.queues[request.name];
    if (std::ranges::any_of(queue, [&](const auto& one) { return one.second.hold == request.hold; }))
      return {};
    queue.insert({row.next_ticket, {row.next_ticket, request.hold, request.lease, row.capacity}});
    ++row.next_ticket;
    row.has_queue = true;
    transaction.wrote = true;
    return holder->expires_at - transaction.now;
  });
}

std::optional<hand_over_reply> memory_session::hand_over(const release_item& request,
                                                         std::chrono::microseconds skew) {
  using answer = std::optional<hand_over_reply>;
  return run("hand_over", [request, skew](memory_transaction& transaction) -> answer {
    memory_tables& tables = transaction.tables;
    const auto found = tables.locks.find(request.name);
    const auto queue = tables.queues.find(request.name);
    if (!transaction.is_recorded_server() || found == tables.locks.end() || queue == tables.queues.end())
      return {};
    if (transaction.locked_rows.contains(request.name) || transaction.guards.contains(request.name))
      return {};
    model::lock_row& row = found->second.row;
    const bool known = row.kind == model::lock_kind::mutex || row.kind == model::lock_kind::shared_mutex ||
                       row.kind == model::lock_kind::election;
    if (row.hold != request.hold || row.lease != request.lease || !known) return {};
    const model::waiter head = queue->second.begin()->second;
    if (head.mode != model::lock_mode::exclusive) return {};
    const memory_lease* next = tables.find_lease(head.lease);
    if (!next || next->expires_at + skew <= transaction.now) return {};
    queue->second.erase(queue->second.begin());
    row.head_ticket = head.ticket + 1;
    row.lease = head.lease;
    row.hold = head.hold;
    row.token = model::next_token(row.token, tables.floor());
    row.has_queue = !queue->second.empty();
    if (!row.has_queue) tables.queues.erase(queue);
    found->second.used_at = transaction.now;
    transaction.wrote = true;
    if (next->record.client != request.lease) transaction.told.push_back({next->record.client, head.hold});
    return hand_over_reply{head.hold, next->record.client, row.token, row.has_queue};
  });
}

// ---- slow path ---------------------------------------------------------------------------------------

void memory_session::create(std::span<const model::lock_definition> locks) {
  run("create", [wanted = copy_of(locks)](memory_transaction& transaction) {
    memory_tables& tables = transaction.tables;
    for (const auto& definition : wanted) {
      model::lock_row row;
      row.name = definition.name;
      row.kind = definition.kind;
      row.capacity = definition.capacity;
      row.fair = definition.fair;
      row.delay = definition.delay;
      row.token = std::max(tables.floor(), clock_token(transaction) - model::new_name_lag);
      if (tables.locks.insert({definition.name, {row, transaction.now}}).second) transaction.wrote = true;
    }
    return transaction.wrote;
  });
}

std::vector<edit_result> memory_session::edit_together(std::span<const edit_request> requests,
                                                       const joint_decision& decide) {
  memory_call call{.server = *server_, .verb = "edit", .session = this, .sent = server_->send(node_)};
  return around(call, [&] {
    if (call.ghost) throw error(errc::internal, "an edit decides in its caller and cannot become a ghost");
    const bool ordered = std::ranges::adjacent_find(requests, std::ranges::greater_equal{},
                                                    &edit_request::name) == requests.end();
    if (!ordered) throw error(errc::internal, "the names of an edit are not distinct and sorted");

    std::vector<edit_result> results(requests.size(), edit_result::committed);
    const auto work = [&](memory_transaction& transaction) {
      std::vector<lock_view> views(requests.size());
      transaction.how = durability::asynchronous;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        if (!transaction.tables.locks.contains(requests[i].name)) {
          results[i] = edit_result::missing;
        } else if (transaction.locked_rows.contains(requests[i].name)) {
          results[i] = edit_result::skipped;
        } else {
          views[i] = view_of(transaction, requests[i]);
          server_->permits_read_ += views[i].permits.size();
        }
      }
      const auto changes = decide(results, views);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        if (changes[i].empty()) continue;
        check_change(views[i], changes[i]);
        apply(transaction, requests[i].name, changes[i]);
        transaction.wrote = true;
        if (changes[i].durable) transaction.how = durability::durable;
      }
    };
    server_->transact(work, node_, call.sent);
    return results;
  });
}

// ---- reading -----------------------------------------------------------------------------------------

std::vector<hold_status> memory_session::find(std::span<const hold_query> holds) {
  server_->asked_about_ += holds.size();
  return run("find", [queries = copy_of(holds)](memory_transaction& transaction) {
    std::vector<hold_status> result;
    for (const hold_query& query : queries) result.push_back(status_of(transaction, query));
    return result;
  });
}

std::vector<lock_info> memory_session::list(const std::string& after, std::size_t limit) {
  return run("list", [after, limit](memory_transaction& transaction) {
    std::vector<lock_info> result;
    const auto& locks = transaction.tables.locks;
    for (auto at = locks.upper_bound(after); at != locks.end() && result.size() < limit; ++at) {
      result.push_back(info_of(transaction, at->second));
    }
    return result;
  });
}

std::optional<lock_info> memory_session::show(const std::string& name) {
  return run("show", [name](memory_transaction& transaction) -> std::optional<lock_info> {
    const auto found = transaction.tables.locks.find(name);
    if (found == transaction.tables.locks.end()) return {};
    return info_of(transaction, found->second);
  });
}

std::vector<waiter_info> memory_session::queue(const std::string& name) {
  return run("queue", [name](memory_transaction& transaction) { return queue_of(transaction, name); });
}

void memory_session::make_durable(lease_id own) {
  if (!server_->shows_commits_early_) return;
  run("make_durable", [own](memory_transaction& transaction) {
    transaction.wrote = transaction.tables.find_lease(own) != nullptr;
    return transaction.wrote;
  });
}

held_page memory_session::read_held(lease_id client, const std::string& after, std::size_t limit) {
  return run("read_held", [client, after, limit](memory_transaction& transaction) {
    return held_of(transaction, client, after, limit);
  });
}

stale memory_session::find_stale(std::size_t limit, std::chrono::microseconds skew,
                                 const std::string& after) {
  return run("find_stale", [limit, skew, after](memory_transaction& transaction) {
    return stale_of(transaction, limit, skew, after);
  });
}

std::vector<std::string> memory_session::waited_for() {
  return run("waited_for", [](memory_transaction& transaction) {
    std::vector<std::string> names;
    for (const auto& [name, queue] : transaction.tables.queues) names.push_back(name);
    return names;
  });
}

// ---- upkeep ------------------------------------------------------------------------------------------

std::int64_t memory_session::collect(std::chrono::milliseconds idle, std::size_t limit) {
  return run("collect", [idle, limit](memory_transaction& transaction) {
    memory_tables& tables = transaction.tables;
    std::int64_t collected = 0;
    for (auto at = tables.locks.begin(); at != tables.locks.end();) {
      const auto& [name, lock] = *at;
      const bool unused = lock.row.kind != model::lock_kind::unknown && !lock.row.lease &&
                          lock.row.in_use == 0 && !lock.row.has_queue && !tables.queues.contains(name) &&
                          !tables.permits.contains(name) && lock.used_at + idle <= transaction.now;
      if (!unused || transaction.locked_rows.contains(name) ||
          collected == static_cast<std::int64_t>(limit)) {
        ++at;
        continue;
      }
      tables.token_floor = std::max(tables.token_floor, lock.row.token);
      ++tables.collections[name];
      at = tables.locks.erase(at);
      ++collected;
    }
    transaction.wrote = collected > 0;
    return collected;
  });
}

// ---- wake-ups ----------------------------------------------------------------------------------------

void memory_session::listen(lease_id client) {
  run("listen", [this, client](memory_transaction&) { return listens_for_.insert(client).second; });
}

void memory_session::send_wakeups(std::span<const wakeup> told) {
  run("send_wakeups", [all = copy_of(told)](memory_transaction& transaction) {
    transaction.told = all;
    return true;
  });
}

bool memory_session::wait(std::chrono::nanoseconds timeout) {
  memory_call call{.server = *server_, .verb = "wait", .session = this};
  return around(call, [&] {
    std::unique_lock lock{server_->mutex_};
    // An absolute time of a very long timeout would overflow.
    server_->changed_.wait_for(lock, std::clamp<std::chrono::nanoseconds>(timeout, 0ns, 24h),
                               [&] { return (!heard_.empty() && server_->tells_) || woken_ || broken_; });
    if (broken_) throw_unreachable();
    woken_ = false;
    granted_.clear();
    if (!server_->tells_ || heard_.empty()) return false;
    granted_ = std::exchange(heard_, {});
    if (std::ranges::any_of(granted_, [](const auto& hold) { return hold.is_nil(); })) granted_.clear();
    return true;
  });
}

std::vector<hold_id> memory_session::woken_waiters() {
  const std::lock_guard lock{server_->mutex_};
  return std::exchange(granted_, {});
}

wakeup_poll memory_session::poll_wakeups() {
  return run("poll_wakeups", [this](memory_transaction&) {
    const bool heard = !std::exchange(heard_, {}).empty();
    return !server_->counts_ ? wakeup_poll::unknown : heard ? wakeup_poll::some : wakeup_poll::none;
  });
}

void memory_session::end_wait() noexcept {
  const std::lock_guard lock{server_->mutex_};
  woken_ = true;
  server_->changed_.notify_all();
}

void memory_session::interrupt() noexcept {
  const std::lock_guard lock{server_->mutex_};
  broken_ = true;
  server_->changed_.notify_all();
}

// ---- ghosts ------------------------------------------------------------------------------------------

bool memory_session::end_ghost(const std::string& backend) {
  return run("end_ghost", [this, backend](memory_transaction&) {
    std::erase_if(server_->ghosts_, [&](const auto& one) { return one.backend == backend; });
    return true;
  });
}

}  // namespace rowlock::store
