#include "client/lease_keeper.hpp"

#include "client/settings.hpp"
#include "client/statement_worker.hpp"

#include <algorithm>
#include <initializer_list>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

bool is_hopeless(const error& failure) {
  return failure.code() != errc::unreachable && failure.code() != errc::contention &&
         failure.code() != errc::read_only;
}

}  // namespace

lease_keeper::lease_keeper(context& shared, submission_queue& queue, waiter_registry& waiters,
                           completions& completions, hold_registry& holds, recent_releases& releases,
                           loss_notifier& loss_notifier, connector connect)
    : context_(shared),
      queue_(queue),
      waiters_(waiters),
      holds_(holds),
      loss_notifier_(loss_notifier),
      slot_(shared, std::move(connect), ghost_kind::harmless),
      poll_(shared, queue, waiters, completions, holds, slot_),
      audit_(shared, queue, holds, releases, loss_notifier, slot_),
      sweep_(shared, queue, slot_) {
  slot_.on_connect = [this](store::session& session) {
    watches_offices_.store(false);
    if (const auto current = this->lease()) {
      session.listen(current->id());
      // What broke the connection may have been a crash, which has forgotten releases: a renewal finds out.
      renew_now_.store(true);
    }
    // A wake-up may have come while nobody listened.
    poll_.plan(instant{});
  };
  holds_.on_unchecked = [this] { slot_.end_wait(); };
  queue_.on_fallback_due = [this] { slot_.end_wait(); };
}

std::shared_ptr<lease> lease_keeper::lease() const {
  const std::lock_guard lock{mutex_};
  return lease_ && lease_->is_valid(context_.time.now()) ? lease_ : nullptr;
}

void lease_keeper::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  stopping_.notify_all();
  slot_.end_wait();
}

bool lease_keeper::is_stopped() const {
  const std::lock_guard lock{mutex_};
  return stopped_;
}

void lease_keeper::look_at(instant when) {
  if (poll_.plan(when) || (must_poll_ && poll_.is_silent())) slot_.end_wait();
}

void lease_keeper::look_up(hold_id waiter) {
  poll_.look_up({&waiter, 1});
  slot_.end_wait();
}

void lease_keeper::renew_soon() {
  renew_now_.store(true);
  slot_.end_wait();
}

void lease_keeper::watch_offices() {
  if (!must_poll_ && !wants_offices_.exchange(true)) slot_.end_wait();
}

// What changed before is looked at now.
void lease_keeper::listen_to_offices() {
  slot_.call([](store::session& session) { session.listen(office_watchers()); });
  watches_offices_.store(true);
  office_signal_.notify();
}

void lease_keeper::pause(std::chrono::nanoseconds length) {
  std::unique_lock lock{mutex_};
  if (!stopped_) stopping_.wait_for(lock, context_.time.patience(length));
}

void lease_keeper::run() {
  while (!is_stopped()) {
    try {
      step();
      reconnect_.reset();
      contended_.reset();
    } catch (const error& failure) {
      report(failure);
      pause(failure.code() == errc::contention ? contended_.next() : reconnect_.next());
    } catch (const std::exception& failure) {
      context_.log(log_level::error, "keeping the lease: {}", failure.what());
      pause(reconnect_.next());
    }
    fallback_->note_connection();
  }
  audit_.forget();
}

// Of an error that is being handled.
void lease_keeper::report(const error& failure) {
  const bool hopeless = is_hopeless(failure);
  std::size_t told = 0;
  if (!lease()) {
    told = queue_.fail_acquires(std::current_exception(), hopeless);
    if (hopeless) poll_.fail_all(std::current_exception());
  }
  const auto left_out = failures_.due(failure.what(), context_.time.now());
  if (!left_out) return;
  // What a caller is told, the log need not repeat; should it go on, the next line is no more his.
  const auto level = told > 0 ? log_level::info : hopeless ? log_level::error : log_level::warning;
  if (*left_out == 0) return context_.log(level, "keeping the lease: {}", failure.what());
  context_.log(level, "keeping the lease: {} (and {} times before)", failure.what(), *left_out);
}

template <class Body>
void lease_keeper::attempt(recurring_step& what, instant due, Body body) {
  const auto now = context_.time.now();
  if (now < std::max(due, what.not_before)) return;
  what.not_before = now + what.pause.next();
  try {
    body();
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) {
      what.not_before = {};  // the pause is that of the next connection
      throw;
    }
    return report(failure);
  }
  what.pause.reset();
  what.not_before = {};
}

void lease_keeper::step() {
  if (!lease()) {
    // The watchdog may not have come round yet; the holders of the old lease are told before there is a new
    // one.
    expire(context_.time.now());
    make_lease();
  }
  attempt(renewing_, renewal_due(), [this] { renew(); });
  if (wants_offices_.load() && !watches_offices_.load()) {
    attempt(listening_, {}, [this] { listen_to_offices(); });
  }
  attempt(looking_, poll_.next(), [this] { look(); });
  attempt(naming_, poll_.named_due(), [this] { poll_.look_at_named(); });
  if (must_poll_) {
    attempt(asking_, poll_.next_question(), [this] { poll_wakeups(); });
  }
  attempt(auditing_, audit_.next(), [this] {
    if (audit_.step()) renew_now_.store(true);
  });
  attempt(ending_, first_end(), [this] { end_dead_leases(); });
  fallback_->note_connection();
  // No renewal waits for more than the statement that is under way.
  attempt(carrying_, queue_.fallback_due(),
          [this] { fallback_->run_fallback(std::max(renewal_due(), renewing_.not_before)); });
  attempt(sweeping_, sweep_.next(), [this] { sweep_.step(); });
  const auto until = next_event() - context_.time.now();
  if (until > 0ns && slot_.wait(context_.time.patience(until))) on_wakeup(slot_.woken_waiters());
  if (auto danger = slot_.warning(); danger != warned_) {
    warned_ = std::move(danger);
    if (!warned_.empty()) context_.log(log_level::warning, "{}", warned_);
  }
}

instant lease_keeper::renewal_due() const {
  return renew_now_.load() ? instant{} : renew_at_;
}

instant lease_keeper::next_event() const {
  auto next = instant::max();
  const auto consider = [&](const recurring_step& what, instant due) {
    next = std::min(next, std::max(due, what.not_before));
  };
  consider(renewing_, renewal_due());
  consider(looking_, poll_.next());
  consider(naming_, poll_.named_due());
  if (must_poll_) consider(asking_, poll_.question());
  if (wants_offices_.load() && !watches_offices_.load()) consider(listening_, {});
  consider(auditing_, audit_.next());
  consider(ending_, first_end());
  consider(carrying_, queue_.fallback_due());
  consider(sweeping_, sweep_.next());
  return next;
}

// A wake-up is for a waiter, or for a holder whose lock was taken by force; or, where wakeups are not
// addressed, for nobody. One that names waiters is for them alone.
void lease_keeper::on_wakeup(const std::vector<hold_id>& granted) {
  poll_.count_wakeup();
  if (!granted.empty()) {
    poll_.look_up(granted);
    return attempt(naming_, {}, [this] { poll_.look_at_named(); });
  }
  if (wants_offices_.load()) office_signal_.notify();
  unexplained_wakeup_ = true;
  attempt(looking_, {}, [this] { look(); });
}

// What may be for a waiter or for a holder is a wake-up. Where the database cannot say, the waiters alone are
// looked at: a holder learns with its next renewal.
void lease_keeper::poll_wakeups() {
  switch (poll_.poll_wakeups()) {
    case store::wakeup_poll::none: return;
    case store::wakeup_poll::some: return on_wakeup();
    case store::wakeup_poll::unknown: look();
  }
}

void lease_keeper::look() {
  bool delivered = false;
  try {
    delivered = poll_.look();
  } catch (const error& failure) {
    if (is_hopeless(failure)) poll_.refused(std::current_exception());
    throw;
  }
  if (std::exchange(unexplained_wakeup_, false) && !delivered) audit_.suspect();
}

// ---- the lease
// ---------------------------------------------------------------------------------------------------

void lease_keeper::make_lease() {
  const auto id = lease_id::random();
  const auto record = context_.process.lease(id, id, context_.settings.ttl);
  auto made = std::make_shared<client_layer::lease>(record.id, record.ttl, true, record.id);
  const auto sent_at = context_.time.now();
  const auto database_state = slot_.call([&](store::session& session) {
    auto now = session.record_database_state();
    context_.stored_skew_ms.store(now.skew.count());
    session.create_lease(record);
    session.listen(record.id);
    return now;
  });
  made->confirm(sent_at + record.ttl - context_.margin(record.ttl));
  renew_at_ = sent_at + renew_interval(context_.settings);
  audit_.begin(record.id, database_state);
  sweep_.plan_first(sent_at);
  {
    const std::lock_guard lock{mutex_};
    lease_ = std::move(made);
    queue_.allow_acquires(true);
  }
  // Those who waited on the old lease stand in no queue any more.
  for (auto& operation : waiters_.take_all()) queue_.submit(std::move(operation));
}

// Tells first. What it logs is written by another thread.
void lease_keeper::lose_lease(const std::shared_ptr<client_layer::lease>& lost, loss reason) {
  {
    const std::lock_guard lock{mutex_};
    if (lease_ != lost) return;
    lease_.reset();
    dead_.push_back({lost->id(), lost->end() + context_.margin(lost->ttl())});
    // Together with the lease: the watchdog loses it while the keeper may be making the next one, and would
    // else take back what that has allowed.
    queue_.allow_acquires(false);
  }
  loss_notifier_.lose(holds_.take(*lost), reason);
  context_.log(log_level::warning, "lease {} is lost: {}", lost->id().to_string(), to_string(reason));
}

std::optional<instant> lease_keeper::expire(instant now) {
  std::shared_ptr<client_layer::lease> current;
  {
    const std::lock_guard lock{mutex_};
    current = lease_;
  }
  if (!current) return {};
  if (current->is_valid(now)) return current->deadline();
  lose_lease(current, loss::expired);
  slot_.end_wait();
  return {};
}

instant lease_keeper::first_end() const {
  const std::lock_guard lock{mutex_};
  auto first = instant::max();
  for (const auto& dead : dead_) first = std::min(first, dead.expires_at);
  return first;
}

// Nobody need wait for the end of a lease whose last renewal was answered too late to count.
void lease_keeper::end_dead_leases() {
  const auto now = context_.time.now();
  std::vector<lease_id> ended;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& dead : dead_) {
      if (dead.expires_at <= now) ended.push_back(dead.id);
    }
  }
  slot_.call([&](store::session& session) { session.end(ended); });
  const std::lock_guard lock{mutex_};
  std::erase_if(dead_, [&](const ended_lease& dead) { return std::ranges::count(ended, dead.id) > 0; });
}

void lease_keeper::end_lease() {
  const auto now = context_.time.now();
  std::shared_ptr<client_layer::lease> current;
  std::vector<lease_id> ended;
  {
    const std::lock_guard lock{mutex_};
    current = std::exchange(lease_, nullptr);
    if (current) {
      current->end();
      ended.push_back(current->id());
    }
    for (const auto& dead : dead_) {
      if (dead.expires_at <= now) ended.push_back(dead.id);
    }
  }
  if (current) loss_notifier_.lose(holds_.take(*current), loss::closed);
  if (!ended.empty()) slot_.call([&](store::session& session) { session.end(ended); });
}

// ---- renewal
// -----------------------------------------------------------------------------------------------------

void lease_keeper::renew() {
  const auto current = lease();
  if (!current) return;  // past its deadline: never renewed (I3)
  const lease_id ids[] = {current->id()};
  const auto sent_at = context_.time.now();
  // Until it has succeeded it stays due.
  if (renew_now_.exchange(false)) renew_at_ = sent_at;
  const auto reply = slot_.call([&](store::session& session) { return session.renew(ids); });
  if (reply.renewed.empty()) {
    lose_lease(current, loss::gone);
    return;
  }
  if (!current->is_valid(context_.time.now())) {
    // The answer came after the deadline, and the holders have been told: this lease is over, whatever the
    // row says.
    lose_lease(current, loss::expired);
    return;
  }
  const auto late = sent_at - (current->deadline() + context_.margin(current->ttl()) - current->ttl());
  if (late > current->ttl() / 2) context_.count.late_renewals.fetch_add(1);
  current->confirm(sent_at + current->ttl() - context_.margin(current->ttl()));
  context_.count.renewals.fetch_add(1);
  renew_at_ = sent_at + renew_interval(context_.settings);
  context_.stored_skew_ms.store(reply.database_state.skew.count());
  audit_.on_renewal(reply, sent_at);
}

}  // namespace rowlock::client_layer
