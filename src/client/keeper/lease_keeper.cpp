#include "client/keeper/lease_keeper.hpp"

#include "client/base/settings.hpp"
#include "client/core/history_lines.hpp"

#include <algorithm>
#include <new>
#include <thread>

namespace rowlock::client_layer {

using namespace std::chrono_literals;

namespace {

// How often the end of the lease is tried, when the client is closed, while there is no memory for it.
constexpr int tries_without_memory = 10;
// How long the thread goes on listening after the last waiter or hold is gone. Otherwise each hold of a
// client that has only one now and then would wake it.
constexpr auto stays_awake = 2s;

}  // namespace

lease_keeper::lease_keeper(client_environment& environment, keeper_agenda& agenda, submission_queue& queue,
                           waiter_registry& waiters, request_settler& settler, hold_registry& holds,
                           recent_releases& releases, loss_notifier& loss_notifier, connector connect)
    : environment_(environment),
      agenda_(agenda),
      queue_(queue),
      waiters_(waiters),
      holds_(holds),
      slot_(environment, std::move(connect), ghost_kind::harmless),
      lease_(environment, queue, holds, loss_notifier, slot_),
      poll_(environment, queue, waiters, settler, holds, agenda, slot_),
      audit_(environment, queue, holds, releases, loss_notifier, slot_),
      sweep_(environment, queue, slot_),
      pauses_(environment.time) {
  slot_.on_connect = [this](store::session& session) {
    watches_offices_.store(false);
    if (const auto current = queue_.lease()) {
      session.listen(current->id());
      // The server may have crashed, which breaks the connection and may lose releases: a renewal finds out.
      agenda_.plan_renewal();
    }
    // A wake-up may have come while nobody listened.
    agenda_.plan_look(instant{});
  };
  agenda_.on_wake([this] { slot_.end_wait(); });
}

std::vector<lease_keeper::duty> lease_keeper::all_duties() {
  const auto never = instant::max();
  return {
      {[this] { return agenda_.wants_renewal() ? instant{} : renew_at_; }, [this] { renew(); }},
      {[this, never] { return wants_offices_.load() && !watches_offices_.load() ? instant{} : never; },
       [this] { listen_to_offices(); }},
      {[this] { return poll_.next(); }, [this] { look(); }},
      {[this, never] { return agenda_.has_named() ? instant{} : never; }, [this] { poll_.look_at_named(); }},
      {[this, never] { return must_poll_ ? poll_.next_poll() : never; }, [this] { poll_wakeups(); }},
      {[this] { return audit_.next(); },
       [this] {
         if (audit_.step()) agenda_.plan_renewal();
       }},
      {[this] { return lease_.next_end(); }, [this] { lease_.end_lost(); }},
      {[this] { return queue_.fallback_due(); }, [this] { run_fallback_(duties_.front().next()); }},
      {[this] { return sweep_.next(); }, [this] { sweep_.step(); }},
  };
}

void lease_keeper::stop() noexcept {
  pauses_.close();
  slot_.end_wait();
  office_signal_.notify();
}

void lease_keeper::watch_offices() {
  if (!must_poll_ && !wants_offices_.exchange(true)) agenda_.wake();
}

// Notifies at the end, because a leader may have changed before this connection listened.
void lease_keeper::listen_to_offices() {
  slot_.call([](store::wakeup_verbs& session) { session.listen(office_watchers()); });
  watches_offices_.store(true);
  office_signal_.notify();
}

void lease_keeper::run() noexcept {
  while (!pauses_.is_closed()) {
    try {
      step();
      reconnect_.reset();
      contended_.reset();
    } catch (...) {
      handle_failure();
    }
    note_connection_();
  }
  audit_.forget();
}

void lease_keeper::end_lease() noexcept {
  auto pause = failure_pause();
  for (int tries = 0; tries < tries_without_memory; ++tries) {
    try {
      return lease_.end_all();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(pause.next());
    } catch (const std::exception& failure) {
      return environment_.log(log_level::warning, "the lease could not be ended, so it expires by itself: {}",
                              failure.what());
    }
  }
  environment_.log(log_level::warning, "there is no memory to end the lease, so it expires by itself");
}

// Called while the exception is being handled. What this function cannot do for lack of memory is left to the
// next failure.
void lease_keeper::handle_failure() noexcept {
  auto* growing = &reconnect_;
  try {
    throw;
  } catch (const error& failure) {
    if (failure.code() == errc::contention) growing = &contended_;
    try {
      report(failure);
      if (failure.code() == errc::unreachable && breaks_with_workers_) let_workers_look();
    } catch (const std::exception& another) {
      environment_.log(log_level::error, "keeping the lease: {}", another.what());
    }
  } catch (const std::exception& failure) {
    environment_.log(log_level::error, "keeping the lease: {}", failure.what());
  } catch (...) {
    environment_.log(log_level::error,
                     "keeping the lease: something that is not a std::exception was thrown");
  }
  pauses_.sleep_until(environment_.time.now() + growing->next());
}

// An idle worker would not notice that its connection is broken.
void lease_keeper::let_workers_look() {
  if (look_of_workers_ && !look_of_workers_->answer.is_complete()) return;
  const auto look = std::make_shared<task_operation>();
  look->work = [](store::lock_verbs& session) { session.read_database_state(); };
  queue_.submit(look);
  look_of_workers_ = look;
}

// Called while the error is being handled.
void lease_keeper::report(const error& failure) {
  const bool is_permanent = !is_temporary(failure);
  std::size_t failed_acquires = 0;
  if (!queue_.lease()) {
    queue_.note_no_lease(std::current_exception());
    failed_acquires = queue_.fail_acquires(std::current_exception(), is_permanent);
    if (is_permanent) poll_.fail_all(std::current_exception());
  }
  const auto left_out = failures_.due(failure.what(), environment_.time.now());
  if (!left_out) return;
  // If callers are thrown the failure, the log need not report it as a warning or an error.
  const auto level = failed_acquires > 0 ? log_level::info
                     : is_permanent      ? log_level::error
                                         : log_level::warning;
  if (*left_out == 0) return environment_.log(level, "keeping the lease: {}", failure.what());
  environment_.log(level, "keeping the lease: {} (and {} times before)", failure.what(), *left_out);
}

void lease_keeper::attempt(duty& one) {
  const auto now = environment_.time.now();
  if (now < one.next()) return;
  one.not_before = now + one.pause.next();
  try {
    one.run();
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) {
      one.not_before = {};  // the pause before the next connection takes its place
      throw;
    }
    return report(failure);
  } catch (const std::bad_alloc&) {
    return environment_.log(log_level::error, "keeping the lease: there is no memory");
  }
  one.pause.reset();
  one.not_before = {};
}

void lease_keeper::step() {
  if (!queue_.lease()) {
    // Holders of the old lease learn of their loss before a new lease exists, even if the watchdog is late.
    lease_.expire(environment_.time.now());
    make_lease();
  }
  for (auto& one : duties_) attempt(one);
  note_connection_();
  if (wait_until(next_event())) on_wakeup(slot_.woken_waiters());
  if (auto danger = slot_.warning(); danger != warned_) {
    warned_ = std::move(danger);
    if (!warned_.empty()) environment_.log(log_level::warning, "{}", warned_);
  }
}

// Returns whether a wake-up came. A client that lately had a waiter or a hold goes on listening for it,
// because it will probably have one again soon.
bool lease_keeper::wait_until(instant event) {
  using interest = session_slot::interest;
  agenda_.set_sleep(true, true);
  const auto now = environment_.time.now();
  const bool watches = !waiters_.empty() || wants_offices_.load();
  const bool has_any = watches || holds_.size() > 0;
  if (watches) watches_until_ = now + stays_awake;
  if (has_any) awake_until_ = now + stays_awake;
  auto whose = interest::nobody;
  if (now < watches_until_) {
    whose = interest::waiters;
    if (!watches) event = std::min(event, watches_until_);
  } else if (now < awake_until_) {
    whose = interest::holders;
    if (!has_any) event = std::min(event, awake_until_);
  }
  agenda_.set_sleep(whose != interest::waiters, whose == interest::nobody);
  const auto left = event - now;
  const bool heard = left > 0ns && slot_.wait(environment_.time.patience(left), whose);
  agenda_.set_sleep(false, false);
  return heard;
}

instant lease_keeper::next_event() const {
  auto next = instant::max();
  for (const auto& one : duties_) next = std::min(next, one.next());
  return next;
}

// A wake-up is for a waiter, or for a holder whose lock was taken by force. If the database's wake-ups reach
// all clients, it may be for neither. If a wake-up names waiters, it is only for them.
void lease_keeper::on_wakeup(const std::vector<hold_id>& granted) {
  agenda_.count_wakeup();
  if (!granted.empty()) return agenda_.plan_look_up(granted);
  if (wants_offices_.load()) office_signal_.notify();
  // A grant to a waiter of this client need not be all that the wake-up means: the same commit may have taken
  // the lock from a holder of this client.
  audit_.suspect();
  poll_.begin_again();
}

// If the database cannot tell whether something changed, only the waiters are looked up; a holder learns of a
// change with its next renewal.
void lease_keeper::poll_wakeups() {
  switch (poll_.poll_wakeups()) {
    case store::wakeup_poll::none: return;
    case store::wakeup_poll::some: return on_wakeup();
    case store::wakeup_poll::unknown: poll_.begin_again();
  }
}

void lease_keeper::look() {
  try {
    poll_.look();
  } catch (const error& failure) {
    if (!is_temporary(failure)) poll_.refused(std::current_exception());
    throw;
  }
}

void lease_keeper::make_lease() {
  const auto created = lease_.create();
  renew_at_ = created.sent_at + renew_interval(environment_.settings);
  audit_.begin(created.made->id(), created.state);
  sweep_.plan_first(created.sent_at);
  // Requests that waited on the lost lease are no longer in any queue. They are taken out of the registry
  // before the new lease can be used: requests that wait on the new lease need not be sent again.
  lease_.reserve();
  auto left = waiters_.take_all();
  queue_.use_lease(created.made);
  while (!left.empty()) queue_.submit_again(left.pop());
}

void lease_keeper::renew() {
  const auto sent_at = environment_.time.now();
  // The renewal stays due until it has succeeded.
  if (agenda_.take_renewal()) renew_at_ = sent_at;
  const auto reply = lease_.renew(sent_at);
  if (!reply) return;
  renew_at_ = sent_at + renew_interval(environment_.settings);
  environment_.stored_skew_ms.store(reply->database_state.skew.count());
  audit_.on_renewal(*reply, sent_at);
  if (const auto version = reply->database_state.recordings; version != environment_.recorded.version()) {
    slot_.call([&](store::session& session) { update_recorded(environment_, session, version); });
  }
}

}  // namespace rowlock::client_layer
