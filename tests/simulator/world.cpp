#include "simulator/world.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <utility>

namespace rowlock::simulator {

namespace {

using std::chrono::microseconds;

bool is_reply(fault_kind kind) {
  return kind == fault_kind::reply_delayed || kind == fault_kind::reply_dropped ||
         kind == fault_kind::reply_stalled || kind == fault_kind::reply_dropped_alive;
}

bool is_of_connect(fault_kind kind) {
  return kind == fault_kind::connect_refused || kind == fault_kind::connect_stalled;
}

}  // namespace

world::world(const story& plan, std::size_t which, scheduler& runs, recorder& records, oracle& checks)
    : plan_(plan),
      which_(which),
      runs_(runs),
      records_(records),
      checks_(checks),
      random_(plan.seed, 20 + which) {
  const auto* first = reinterpret_cast<const char*>(server_.get());
  runs_.add_server(first, first + sizeof(store::memory_server));
  server_->let_time_pass([this] {
    return std::chrono::duration_cast<store::timestamp>(
        std::chrono::nanoseconds{plan_.server_clocks[which_].reading(runs_.now())});
  });
  server_->name_backends();
  server_->observe(&checks_);
  server_->open()->connect()->record_database_state();
  if (plan.has(fault_kind::node_behind)) server_->make_cluster(cluster_nodes);
  if (plan.has(fault_kind::asynchronous_commits_lost) || plan.has(fault_kind::commits_lost))
    server_->keep_history();
  if (plan.polls) server_->tell_nobody();
  server_->on_call([this](store::memory_call& call) { on_call(call); });
}

void world::pause(nanoseconds length) {
  runs_.sleep_until(runs_.now() + length);
}

fault* world::armed_for(store::memory_call& call) {
  const bool after = call.at == store::memory_call::phase::after;
  for (auto& one : armed_) {
    if (is_reply(one.kind) != after) continue;
    if (one.client != 0 && one.client != runs_.home().client) continue;
    if (!one.verb.empty() && one.verb != call.verb) continue;
    if (is_of_connect(one.kind) != (call.verb == "connect")) continue;
    if (call.verb == "wait") continue;
    if (one.kind == fault_kind::ghost && !may_be_ghost(call.verb)) continue;
    if (one.spares > 0) {
      --one.spares;
      continue;
    }
    return &one;
  }
  return nullptr;
}

void world::on_call(store::memory_call& call) {
  const bool before = call.at == store::memory_call::phase::before;
  if (before) current_verb = call.verb;
  if (before && call.verb != "wait") {
    records_.event(call.verb, [&] {
      return plan_.server_clocks.size() == 1 ? std::string{} : fmt::format("at server {}", which_ + 1);
    });
  }
  if (call.verb != "wait")
    pause(static_cast<nanoseconds>(random_.below(static_cast<std::uint64_t>(plan_.latency))));
  if (cut_ > 0) store::throw_unreachable(call.verb != "connect");
  if (read_only_ > 0 && before && call.verb != "wait")
    throw error(errc::read_only, "the server is read-only", "25006");
  if (before && call.at_node_behind()) wait_for_node(call);
  if (fault* one = armed_for(call)) {
    const fault now = *one;
    if (--one->amount <= 0) armed_.remove_if([&](const fault& other) { return &other == one; });
    strike(now, call);
  }
}

// Waits until the node has applied what was committed before the call.
void world::wait_for_node(store::memory_call& call) {
  const auto& client = plan_.clients[static_cast<std::size_t>(runs_.home().client) - 1];
  const std::chrono::nanoseconds limit{client.settings.statement_timeout};
  if (random_.one_in(16)) {
    records_.fault(fault_kind::node_too_late, [&] { return std::string{call.verb}; });
    call.pause(limit);
    throw error(errc::contention, "the node has not caught up", "1205");
  }
  const auto at_most = random_.one_in(4) ? limit : limit / 20;
  call.pause(std::chrono::nanoseconds{random_.below(static_cast<std::uint64_t>(at_most.count()))});
}

void world::strike(const fault& one, store::memory_call& call) {
  records_.fault(one.kind, [&] { return fmt::format("#{} at {}", one.number, call.verb); });
  switch (one.kind) {
    case fault_kind::request_delayed:
    case fault_kind::reply_delayed: return call.pause(std::chrono::nanoseconds{one.length});
    case fault_kind::request_dropped:
    case fault_kind::reply_dropped: store::throw_unreachable();
    case fault_kind::reply_dropped_alive:
      throw error(errc::contention, "the statement was cancelled, maybe after its commit", "1317", true);
    case fault_kind::connect_refused: store::throw_unreachable(false);
    case fault_kind::connection_stalled:
    case fault_kind::reply_stalled:
    case fault_kind::connect_stalled: return call.block();
    case fault_kind::statement_timeout:
      call.pause(std::chrono::nanoseconds{one.length});
      throw error(errc::contention, "the statement took too long", "57014");
    case fault_kind::statement_cancelled:
      throw error(errc::contention, "the statement was cancelled", "57014");
    case fault_kind::deadlock_victim: throw error(errc::contention, "a deadlock was detected", "40P01");
    case fault_kind::disk_full: throw error(errc::database, "the disk is full", "53100");
    case fault_kind::out_of_memory: throw error(errc::database, "there is no memory", "53200");
    case fault_kind::denied: throw error(errc::privilege, "a right is missing", "42501");
    case fault_kind::ghost: return call.leave_ghost();
    default: return;
  }
}

void world::later(nanoseconds length, std::function<void()> undo) {
  undo_.push_back({runs_.now() + length, std::move(undo)});
}

void world::happen(const fault& one) {
  const auto note = [&] {
    records_.fault(one.kind, [&] {
      return fmt::format("#{} client {}, {} ms, {}", one.number, one.client, one.length / millisecond,
                         one.amount);
    });
  };
  switch (one.kind) {
    case fault_kind::ghosts_run:
      note();
      try {
        server_->run_ghosts();
      } catch (const error&) {
        // The caller of the statement is gone.
      }
      return;
    case fault_kind::wakeups_lost: note(); return server_->lose_wakeups(static_cast<std::size_t>(one.amount));
    case fault_kind::process_stalled:
    case fault_kind::process_stalled_beyond_ttl:
      note();
      return runs_.stall(*processes_[static_cast<std::size_t>(one.client) - 1], one.length);
    case fault_kind::process_crashed:
      note();
      runs_.kill(*processes_[static_cast<std::size_t>(one.client) - 1]);
      for (const auto& guard : guards_) {
        if (guard.home->dead) server_->end_guard(guard.name, guard.hold);
      }
      std::erase_if(guards_, [](const auto& guard) { return guard.home->dead; });
      return on_crash(one.client);
    case fault_kind::server_crashed:
    case fault_kind::asynchronous_commits_lost:
      note();
      return server_->crash(one.kind == fault_kind::asynchronous_commits_lost);
    case fault_kind::fail_over: note(); return server_->fail_over("memory/" + std::to_string(++servers_));
    case fault_kind::commits_lost:
      note();
      return server_->fail_over("memory/" + std::to_string(++servers_), static_cast<std::size_t>(one.amount));
    case fault_kind::marker_lost: note(); return server_->lose_marker();
    case fault_kind::network_cut:
      note();
      ++cut_;
      return later(one.length, [this] { --cut_; });
    case fault_kind::server_read_only:
      note();
      ++read_only_;
      return later(one.length, [this] { --read_only_; });
    case fault_kind::row_locked:
      note();
      server_->lock_row(name_of(one.where));
      return later(one.length, [this, name = name_of(one.where)] { server_->unlock_row(name); });
    case fault_kind::node_behind: {
      note();
      const auto node = static_cast<std::size_t>(one.amount);
      server_->fall_behind(node);
      return later(one.length, [this, node] { server_->catch_up(node); });
    }
    case fault_kind::clock_stepped: note(); return server_->advance(microseconds{one.length / microsecond});
    default:
      armed_.push_back(one);
      if (one.kind == fault_kind::connection_stalled || one.kind == fault_kind::reply_stalled ||
          one.kind == fault_kind::connect_stalled) {
        later(one.length + 200 * millisecond, [this] { server_->unblock(); });
      }
  }
}

bool world::begin_guard(const std::string& name, const model::hold_id& hold) {
  const uninterrupted now;
  if (!server_->guard(name, hold)) return false;
  guards_.push_back({&runs_.home(), name, hold});
  return true;
}

bool world::end_guard(const std::string& name, const model::hold_id& hold) {
  const uninterrupted now;
  std::erase_if(guards_, [&](const auto& one) { return one.name == name && one.hold == hold; });
  return server_->end_guard(name, hold);
}

void world::undo_due() {
  for (;;) {
    const auto due = std::ranges::min_element(undo_, {}, &planned_undo::at);
    if (due == undo_.end() || due->at > runs_.now()) return;
    const auto undo = std::move(due->undo);
    undo_.erase(due);
    undo();
  }
}

void world::run_faults() {
  const auto begin = runs_.now();
  const auto until = [&](nanoseconds when) {
    for (;;) {
      undo_due();
      const auto next = std::ranges::min_element(undo_, {}, &planned_undo::at);
      const auto wake = next == undo_.end() ? when : std::min(when, next->at);
      if (runs_.now() >= when) return;
      runs_.sleep_until(wake);
    }
  };
  for (const auto& one : plan_.faults) {
    if (one.server != which_) continue;
    until(begin + one.at);
    // If an epoch rises twice within a second, it is ahead of the clock, and may be lost. The design permits that.
    const bool moves = one.kind == fault_kind::fail_over || one.kind == fault_kind::commits_lost;
    while (moves && runs_.now() < checks_.epoch_raised_at() + 1200 * millisecond) {
      until(checks_.epoch_raised_at() + 1200 * millisecond);
    }
    happen(one);
  }
  until(begin + plan_.ends_faults);
  while (!undo_.empty()) until(std::ranges::min_element(undo_, {}, &planned_undo::at)->at);
  end_faults();
}

void world::end_faults() {
  armed_.clear();
  server_->lose_wakeups(0);
  server_->unblock();
  try {
    server_->run_ghosts();
  } catch (const error&) {
    // The caller of the statement is gone.
  }
  runs_.calm_down();
}

}  // namespace rowlock::simulator
