#include "client/lease_keeper.hpp"

#include "client/settings.hpp"

#include <algorithm>
#include <unordered_set>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// How many holds one statement asks about.
constexpr std::size_t chunk = 1000;
constexpr std::size_t sweep_limit = 100;
constexpr auto far_away = std::chrono::hours{24 * 365};

template <class Visit>
void in_chunks(const std::vector<store::hold_query>& queries, session_slot& slot, Visit visit) {
  const std::span<const store::hold_query> all{queries};
  for (std::size_t from = 0; from < all.size(); from += chunk) {
    const auto part = all.subspan(from, std::min(chunk, all.size() - from));
    visit(part, slot.call([&](store::session& session) { return session.find(part); }));
  }
}

}  // namespace

lease_keeper::lease_keeper(context& shared, submission_queue& queue, waiting_room& room, delivery& deliver,
                           hold_registry& holds, recent_releases& releases, herald& herald, connector connect,
                           std::function<store::lease_record(lease_id)> describe)
    : shared_(shared),
      queue_(queue),
      room_(room),
      deliver_(deliver),
      holds_(holds),
      releases_(releases),
      herald_(herald),
      describe_(std::move(describe)),
      slot_(shared, std::move(connect)),
      look_at_(instant::max().time_since_epoch().count()) {
  slot_.on_connect = [this](store::session& session) {
    hears_of_offices_.store(false);
    if (const auto current = this->lease()) {
      session.listen(current->id());
      // What broke the connection may have been a crash, which has forgotten releases: a renewal finds out.
      renew_now_.store(true);
    }
    // A wake-up may have come while nobody listened.
    look_at_.store(0);
  };
}

std::shared_ptr<lease> lease_keeper::lease() const {
  const std::lock_guard lock{mutex_};
  return lease_ && lease_->is_valid(shared_.time.now()) ? lease_ : nullptr;
}

void lease_keeper::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  stopping_.notify_all();
  slot_.wake();
}

void lease_keeper::look_at(instant when) {
  auto planned = look_at_.load();
  const auto wished = when.time_since_epoch().count();
  while (wished < planned) {
    if (look_at_.compare_exchange_weak(planned, wished)) {
      slot_.wake();
      return;
    }
  }
  if (must_ask_ && silent_.load()) slot_.wake();
}

void lease_keeper::renew_soon() {
  renew_now_.store(true);
  slot_.wake();
}

void lease_keeper::hear_of_offices() {
  if (!must_ask_ && !wants_offices_.exchange(true)) slot_.wake();
}

// What changed before is looked at now.
void lease_keeper::listen_to_offices() {
  slot_.call([](store::session& session) { session.listen(onlookers()); });
  hears_of_offices_.store(true);
  news_.publish();
}

void lease_keeper::pause(std::chrono::nanoseconds length) {
  std::unique_lock lock{mutex_};
  if (!stopped_) stopping_.wait_for(lock, shared_.time.patience(length));
}

void lease_keeper::run() {
  for (;;) {
    {
      const std::lock_guard lock{mutex_};
      if (stopped_) return;
    }
    try {
      step();
      reconnect_.reset();
    } catch (const error& failure) {
      const bool hopeless = failure.code() != errc::unreachable && failure.code() != errc::contention &&
                            failure.code() != errc::read_only;
      shared_.log(hopeless ? log_level::error : log_level::warning, "keeping the lease: {}", failure.what());
      if (!lease()) queue_.fail_acquires(std::current_exception(), hopeless);
      pause(reconnect_.next());
    } catch (const std::exception& failure) {
      shared_.log(log_level::error, "keeping the lease: {}", failure.what());
      pause(reconnect_.next());
    }
  }
}

void lease_keeper::step() {
  if (!lease()) {
    // The watchdog may not have come round yet; the holders of the old lease are told before there is a new
    // one.
    expire(shared_.time.now());
    make_lease();
  }
  if (wants_offices_.load() && !hears_of_offices_.load()) listen_to_offices();
  const auto now = shared_.time.now();
  if (now >= renew_at_ || renew_now_.load()) renew();
  if (now.time_since_epoch().count() >= look_at_.load()) {
    look_at_.store(instant::max().time_since_epoch().count());
    look();
  }
  if (now >= sweep_at_) sweep();
  if (must_ask_) ask();
  if (check_due_ && now >= check_at_) look_after_holds();
  const auto until = next_event() - shared_.time.now();
  if (until > 0ns && slot_.wait(shared_.time.patience(until))) heard();
}

// A hint is for a waiter, or for a holder whose lock was taken by force; or, where hints are not addressed,
// for nobody.
void lease_keeper::heard() {
  hints_.fetch_add(1);
  if (wants_offices_.load()) news_.publish();
  if (look()) return;
  check_due_ = true;
}

void lease_keeper::ask() {
  // In this order: whoever enters the room behind the question finds the silence and ends it.
  silent_.store(true);
  if (room_.empty()) {
    ask_at_ = instant::max();
    return;
  }
  silent_.store(false);
  const auto now = shared_.time.now();
  if (ask_at_ == instant::max()) asking_.reset();
  if (now >= ask_at_ && slot_.call([](store::session& session) { return session.ask(); })) {
    asking_.reset();
    heard();
  }
  if (ask_at_ == instant::max() || now >= ask_at_) ask_at_ = now + asking_.next();
}

instant lease_keeper::next_event() const {
  return std::min({ask_at_, renew_now_.load() ? instant{} : renew_at_, sweep_at_,
                   check_due_ ? check_at_ : instant::max(),
                   instant{std::chrono::nanoseconds{look_at_.load()}}});
}

// ---- the lease
// ---------------------------------------------------------------------------------------------------

void lease_keeper::make_lease() {
  const auto record = describe_(lease_id::random());
  auto made = std::make_shared<client_layer::lease>(record.id, record.ttl, true);
  const auto sent_at = shared_.time.now();
  slot_.call([&](store::session& session) {
    world_ = session.refresh_world();
    session.create_lease(record);
    session.listen(record.id);
  });
  made->confirm(sent_at + record.ttl - shared_.margin(record.ttl));
  notice_ = 0;
  renew_at_ = sent_at + renew_interval(shared_.settings);
  sweep_at_ =
      shared_.settings.sweep_interval > 0ms ? sent_at + shared_.settings.sweep_interval : sent_at + far_away;
  {
    const std::lock_guard lock{mutex_};
    lease_ = std::move(made);
  }
  queue_.allow_acquires(true);
  // Those who waited on the old lease stand in no queue any more.
  for (auto& operation : room_.take_all()) queue_.submit(std::move(operation));
  if (dead_) {
    // Nobody else need wait for its end.
    const lease_id ended[] = {dead_->id()};
    slot_.call([&](store::session& session) { session.end(ended); });
    dead_.reset();
  }
}

void lease_keeper::lose_lease(const std::shared_ptr<client_layer::lease>& lost, loss reason) {
  {
    const std::lock_guard lock{mutex_};
    if (lease_ != lost) return;
    lease_.reset();
    dead_ = lost;
  }
  lost->end();
  queue_.allow_acquires(false);
  shared_.log(log_level::warning, "lease {} is lost: {}", lost->id().to_string(), to_string(reason));
  for (const auto& hold : holds_.on(*lost)) herald_.lose(hold, reason);
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
  slot_.wake();
  return {};
}

void lease_keeper::end_lease() {
  std::vector<lease_id> ended;
  {
    const std::lock_guard lock{mutex_};
    if (lease_) ended.push_back(lease_->id());
    if (dead_) ended.push_back(dead_->id());
    if (lease_) lease_->end();
    lease_.reset();
  }
  if (!ended.empty()) slot_.call([&](store::session& session) { session.end(ended); });
}

// ---- renewal
// -----------------------------------------------------------------------------------------------------

void lease_keeper::renew() {
  const auto current = lease();
  if (!current) return;  // past its deadline: never renewed (I3)
  const lease_id ids[] = {current->id()};
  const auto sent_at = shared_.time.now();
  renew_now_.store(false);
  const auto reply = slot_.call([&](store::session& session) { return session.renew(ids); });
  if (reply.renewed.empty()) {
    lose_lease(current, loss::gone);
    return;
  }
  if (!current->is_valid(shared_.time.now())) {
    // The answer came after the deadline, and the holders have been told: this lease is over, whatever the
    // row says.
    lose_lease(current, loss::expired);
    return;
  }
  const auto late = sent_at - (current->deadline() + shared_.margin(current->ttl()) - current->ttl());
  if (late > current->ttl() / 2) shared_.count.late_renewals.fetch_add(1);
  current->confirm(sent_at + current->ttl() - shared_.margin(current->ttl()));
  shared_.count.renewals.fetch_add(1);
  renew_at_ = sent_at + renew_interval(shared_.settings);
  check_world(reply, sent_at);
}

// A renewal that succeeds says only that the lease row is there. Whether the locks are is asked when the
// world changed.
void lease_keeper::check_world(const store::renewal_reply& reply, instant sent_at) {
  store::world now = reply.world;
  if (now.marker.empty() || now.identity != now.recorded_identity) {
    now = slot_.call([](store::session& session) { return session.refresh_world(); });
  }
  const bool same_marker = reply.world.marker == world_.marker;
  const bool same_world = same_marker && now == world_;
  const auto notice = reply.renewed.front().notice;
  const bool noticed = std::exchange(notice_, notice) != notice;
  world_ = now;
  if (same_marker) {
    releases_.confirm(sent_at);
  } else {
    shared_.log(log_level::warning, "the database has crashed or failed over: checking every hold");
    send_releases_again();
  }
  const bool suspicious = std::exchange(suspicious_, false);
  if (!same_world || noticed || suspicious) check_holds(noticed ? loss::forced : loss::gone);
}

std::vector<hold_ptr> lease_keeper::missing_holds() {
  auto holds = holds_.all();
  std::vector<store::hold_query> queries;
  queries.reserve(holds.size());
  for (const auto& hold : holds) queries.push_back({hold->name(), hold->id()});
  std::unordered_set<hold_id> standing;
  std::unordered_set<hold_id> asked_for;
  in_chunks(queries, slot_, [&](auto, const std::vector<store::hold_status>& replies) {
    for (const auto& status : replies) {
      if (status.state == store::hold_status::where::held) standing.insert(status.hold);
      if (status.is_asked_for) asked_for.insert(status.hold);
    }
  });
  for (const auto& hold : holds) {
    if (asked_for.contains(hold->id())) pass_on_request(hold);
  }
  std::erase_if(holds, [&](const hold_ptr& hold) { return standing.contains(hold->id()); });
  return holds;
}

void lease_keeper::pass_on_request(const hold_ptr& hold) {
  const auto now = shared_.time.now();
  const auto stored = slot_.call([&](store::session& session) { return session.show(hold->name()); });
  if (stored && stored->request) herald_.ask(hold, stored->request->reason, now + stored->request->within);
}

void lease_keeper::check_holds(loss reason) {
  for (const auto& hold : missing_holds()) herald_.lose(hold, reason);
}

// Only reads, and not often: the renewal that it brings forward finds out why a hold is missing.
void lease_keeper::look_after_holds() {
  check_due_ = false;
  check_at_ = shared_.time.now() + shared_.settings.poll_interval;
  if (missing_holds().empty()) return;
  suspicious_ = true;
  renew_now_.store(true);
}

void lease_keeper::send_releases_again() {
  for (auto& release : releases_.take_all()) {
    auto operation = std::make_shared<release_operation>();
    operation->name = std::move(release.name);
    operation->hold = release.hold;
    operation->lease = std::move(release.lease);
    operation->how = store::durability::durable;
    queue_.submit(std::move(operation));
  }
}

// ---- those who wait
// ----------------------------------------------------------------------------------------------

// A look that is planned stays planned: where waiters come and go, each would wake this thread to plan it
// anew.
bool lease_keeper::look() {
  const auto queries = room_.queries();
  if (queries.empty()) return false;
  if (ask_at_ != instant::max()) ask_at_ = shared_.time.now() + asking_.next();  // this asks for more
  bool delivered = false;
  const auto now = shared_.time.now();
  std::unordered_set<std::string> asked;  // one request a name suffices to have the dead cleared away
  barrier_dues of_barriers;
  const auto ask_again = [&](hold_id hold) {
    if (auto operation = room_.take(hold)) queue_.submit(std::move(operation));
  };
  in_chunks(queries, slot_, [&](std::span<const store::hold_query> part, const auto& replies) {
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const store::hold_status& status = replies[i];
      switch (status.state) {
        case store::hold_status::where::held:
          delivered = true;
          if (const auto operation = room_.take(status.hold)) {
            operation->contended = status.has_queue;
            deliver_.granted(operation, status.token);
          }
          break;
        case store::hold_status::where::absent: ask_again(status.hold); break;
        case store::hold_status::where::queued: {
          const auto takeover_in = due_in(status, part[i].name, of_barriers);
          if (takeover_in > 0us) {
            room_.set_takeover(status.hold, now + takeover_in);
          } else if (asked.insert(part[i].name).second) {
            ask_again(status.hold);
          } else {
            room_.set_takeover(status.hold, now + shared_.settings.poll_interval);
          }
          break;
        }
      }
    }
  });
  if (const auto takeover = room_.next_takeover()) {
    look_at(std::min(*takeover, shared_.time.now() + shared_.settings.poll_interval));
  }
  return delivered;
}

// How long until somebody's death may change what a waiter waits for. At a latch nobody's does; at a barrier
// that of each of those who wait.
std::chrono::microseconds lease_keeper::due_in(const store::hold_status& status, const std::string& name,
                                               barrier_dues& of_barriers) {
  // An unfair lock may have been freed, or have room, and nobody has looked for those who wait.
  if (!status.fair && status.in_use < status.capacity) return 0us;
  if (!gathers(status.kind)) return status.takeover_in.value_or(0us) + shared_.settings.skew;
  if (status.kind == model::lock_kind::latch) return 1h;
  const auto [due, is_new] = of_barriers.try_emplace(name, 1h);
  if (!is_new) return due->second;
  for (const auto& member : slot_.call([&](store::session& session) { return session.queue(name); })) {
    // It is told in whole milliseconds, rounded down.
    const auto ends_in = member.alive ? member.expires_in + shared_.settings.skew + 1ms : 0ms;
    due->second = std::min<std::chrono::microseconds>(due->second, ends_in);
  }
  return due->second;
}

void lease_keeper::sweep() {
  const std::chrono::microseconds skew = shared_.settings.skew;
  sweep_at_ = shared_.time.now() + shared_.settings.sweep_interval;
  const auto found =
      slot_.call([&](store::session& session) { return session.find_stale(sweep_limit, skew); });
  if (!found.expired_leases.empty()) {
    slot_.call([&](store::session& session) { return session.kill(found.expired_leases, skew); });
  }
  for (const auto& name : found.names) queue_.submit(sweep_of(name));
}

}  // namespace rowlock::client_layer
