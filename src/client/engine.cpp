#include "client/engine.hpp"

#include "client/settings.hpp"
#include "model/names.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// Of a wait that was stopped.
hold_ptr stopped(const wait_limit& how_long) {
  if (how_long.waits && !how_long.limit) throw error(errc::cancelled, "the wait for a lock was stopped");
  return nullptr;
}

acquire_ptr make_operation(const model::lock_definition& definition, bool waits, const acquire_options& how,
                           const demand& what) {
  auto operation = std::make_shared<acquire_operation>();
  operation->definition = definition;
  operation->mode = what.mode;
  operation->weight = what.mode == model::lock_mode::shared ? what.weight : definition.capacity;
  operation->everything = what.everything;
  operation->wait = waits;
  if (how.ttl != 0ms) operation->ttl = how.ttl;
  operation->min_hold = how.min_hold;
  return operation;
}

// Nobody waits for it any more: it leaves the queue, and what it was granted before goes back.
void abandon_with_grant(engine& on, acquire_operation& operation) {
  if (operation.answer.give_up()) return on.abandon(operation);
  try {
    if (const auto granted = operation.answer.take(); granted && *granted) on.begin_release(**granted);
  } catch (const error&) {
    // It had failed: nothing was granted.
  }
}

// Of a hold whose release another call has begun, or that was lost.
release_result over(const hold_state& hold) {
  return hold.loss() == loss::none ? release_result::released : release_result::lost;
}

}  // namespace

std::shared_ptr<engine> engine::open(database_source source, const options& settings, time_source& time) {
  auto made = std::make_shared<engine>(std::move(source), checked_settings(settings), time);
  const auto database = made->read_source();
  // A client that could renew and not release would keep others waiting for it: it has both connections, or
  // is not made.
  made->spare_for_keeper_ = made->connect_to(database);
  made->spare_for_worker_ = made->connect_to(database);
  // A standby cannot read the marker, and whoever only reads kills nobody.
  if (!settings.read_only) {
    made->context_.stored_skew_ms.store(made->spare_for_keeper_->read_database_state().skew.count());
  }
  for (const auto mode : {model::lock_mode::exclusive, model::lock_mode::shared}) {
    auto& guard = mode == model::lock_mode::shared ? made->shared_guard_ : made->exclusive_guard_;
    guard = {database->guard_sql(mode), database->guard_write_sql(mode)};
  }
  if (database->must_poll()) made->keeper_.must_poll();
  if (auto danger = made->spare_for_keeper_->warning(); !danger.empty()) {
    made->context_.log(log_level::warning, "{}", danger);
    made->keeper_.warned_of(std::move(danger));
  }
  const int carrying = database->single_writer() ? 1 : settings.connections - 1;
  std::vector<session_slot*> slots{&made->keeper_.slot()};
  made->queue_.split_roles(carrying > 1);
  for (int i = 0; i < carrying; ++i) {
    const auto carried = carrying == 1 ? worker_role::everything
                         : i % 2 == 0  ? worker_role::acquires
                                       : worker_role::releases;
    auto* const spare = i == 0 ? &made->spare_for_worker_ : nullptr;
    made->workers_.push_back(std::make_unique<statement_worker>(
        made->parts_, carried, [raw = made.get(), spare] { return raw->connect(spare); }));
    slots.push_back(&made->workers_.back()->slot());
  }
  made->watchdog_ = std::make_unique<watchdog>(made->context_, made->keeper_, made->holds_,
                                               made->loss_notifier_, made->async_, slots);
  return made;
}

engine::engine(database_source source, const options& settings, time_source& time)
    : source_(std::move(source)),
      context_{settings, time},
      pid_(::getpid()),
      queue_(context_),
      completions_(context_, queue_, waiters_, holds_, releases_, contended_,
                   [this](const acquire_operation& operation, model::token token) {
                     return make_hold(operation, token);
                   }),
      loss_notifier_(context_, holds_),
      keeper_(context_, queue_, waiters_, completions_, holds_, releases_, loss_notifier_,
              [this] { return connect(&spare_for_keeper_); }),
      reconcile_(context_, queue_, holds_, keeper_),
      parts_{context_, queue_, completions_, contended_, pending_sweeps_, keeper_, reconcile_},
      tasks_(parts_,
             [this] {
               check_usable();
               start_workers();
             }),
      deadlocks_(context_, queue_),
      fallback_(parts_, keeper_.slot()) {
  completions_.attach(keeper_);
  keeper_.lend_to(fallback_);
  context_.ghosts.on_forgotten = [this] { reconcile_.request_repeatedly(); };
  keeper_.on_database_changed(
      [this](const store::database_state& database_state) { reconcile_.request_in(database_state); });
}

engine::~engine() = default;

std::shared_ptr<store::database> engine::read_source() {
  const std::lock_guard lock{source_mutex_};
  std::shared_ptr<store::database> database;
  const auto failed = [](const std::string& why) {
    return error(errc::unreachable, "the source of the database's URL failed: " + why);
  };
  try {
    if (!context_.user_calls.run([&] { database = source_(); }))
      throw error(errc::closed, "the client is closed");
  } catch (const error&) {
    throw;
  } catch (const std::exception& failure) {
    throw failed(failure.what());
  } catch (...) {
    throw failed("it threw what is no std::exception");
  }
  return database;
}

std::unique_ptr<store::session> engine::connect_to(std::shared_ptr<store::database> database) {
  return dialer_.connect(std::move(database));
}

std::unique_ptr<store::session> engine::connect(std::unique_ptr<store::session>* spare) {
  if (spare) {
    const std::lock_guard lock{spare_mutex_};
    if (*spare) return std::move(*spare);
  }
  return connect_to(read_source());
}

hold_ptr engine::make_hold(const acquire_operation& operation, model::token token) {
  auto hold = std::make_shared<hold_state>(shared_from_this(), operation.definition, operation.hold, token,
                                           operation.lease, operation.mode, operation.weight);
  hold->set_contended(operation.contended);
  if (operation.min_hold > 0ms) hold->set_keep_until(context_.time.now() + operation.min_hold);
  return hold;
}

// ---- threads
// -----------------------------------------------------------------------------------------------------

void engine::start_thread(std::string_view role, const char* name, std::function<void()> body,
                          detached_threads* among) {
  if (started_.contains(role)) return;
  try {
    (among ? *among : threads_).start(name, std::move(body), shared_from_this());
  } catch (const std::system_error& failure) {
    throw error(errc::unreachable,
                fmt::format("a thread of the client's cannot be started: {}; it is tried again with the next "
                            "call",
                            failure.what()));
  }
  started_.emplace(role);
}

void engine::start_workers() {
  if (workers_started_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock{start_mutex_};
  if (workers_started_.load() || closed_.load()) return;
  if (!context_.writer.is_silent()) {
    start_thread(
        "log", "rowlock-log", [this] { context_.writer.run(); }, &log_thread_);
    context_.writer.start();
  }
  start_thread("watch", "rowlock-watch", [this] { watchdog_->run(); });
  start_thread("tell", "rowlock-tell", [this] { loss_notifier_.run(); });
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    start_thread(fmt::format("carry {}", i), "rowlock-carry", [raw = workers_[i].get()] { raw->run(); });
  }
  workers_started_.store(true, std::memory_order_release);
}

void engine::start_keeper() {
  if (keeper_started_.load(std::memory_order_acquire)) return;
  check_may_write();
  start_workers();
  const std::lock_guard lock{start_mutex_};
  if (keeper_started_.load() || closed_.load()) return;
  start_thread("lease", "rowlock-lease", [this] {
    keeper_.run();
    try {
      keeper_.end_lease();
    } catch (const std::exception& failure) {
      context_.log(log_level::warning, "the lease was not ended and runs out by itself: {}", failure.what());
    }
    keeper_.slot().close();
  });
  reconcile_.begin_routine();
  keeper_started_.store(true, std::memory_order_release);
}

async_waiters& engine::start_async() {
  if (async_started_.load(std::memory_order_acquire)) return async_;
  const std::lock_guard lock{start_mutex_};
  check_usable();
  if (async_started_.load()) return async_;
  start_thread("call", "rowlock-call", [this] { async_.run(); });
  async_started_.store(true, std::memory_order_release);
  return async_;
}

// ---- calls
// -------------------------------------------------------------------------------------------------------

bool engine::is_forked() const noexcept {
  return ::getpid() != pid_;
}

void engine::check_usable() const {
  if (is_forked()) {
    throw error(errc::forked,
                fmt::format("this client was made by process {} before a fork; the child must make its own "
                            "with rowlock::connect",
                            pid_));
  }
  if (closed_.load(std::memory_order_relaxed)) {
    throw error(errc::closed, "the client is closed; make a new one with rowlock::connect");
  }
}

void engine::check_may_write() const {
  if (!context_.settings.read_only) return;
  throw error(errc::read_only, "this client was made to read alone (options::read_only)");
}

void engine::check_room(std::size_t wanted) const {
  const auto most = context_.holds_at_most();
  const auto present = holds_.size();
  if (wanted <= most && present <= most - wanted) return;
  throw error(
      errc::invalid_argument,
      fmt::format("this client has {} holds and asks for {} more; with options::margin at {} ms it may "
                  "have {}, so that a loss can be told to all in time: set a longer margin, or use "
                  "another client",
                  present, wanted, context_.settings.margin.count(), most));
}

acquire_ptr engine::begin_acquire(const model::lock_definition& definition, bool waits,
                                  const acquire_options& how, const demand& what) {
  check_usable();
  check_room();
  model::check_hold_times(how.ttl, how.min_hold);
  start_keeper();
  const auto operation = make_operation(definition, waits, how, what);
  queue_.submit(operation);
  return operation;
}

std::optional<hold_ptr> engine::await_acquire(const acquire_ptr& operation, std::optional<instant> until,
                                              const std::stop_token& stop) {
  if (auto answer = operation->answer.wait(context_.time, until, stop)) {
    if (*answer && operation->ttl) watchdog_->check_again();
    return std::move(*answer);
  }
  abandon(*operation);
  return {};
}

// Until it is granted, the time is nearly up, or stop was requested; then await_acquire() tells. Two reads in
// a row must show the same circle. The one of it whose hold's id is greatest gives up first, for it suffices
// that one does; the others wait a little for it.
hold_ptr engine::await_or_deadlock(const acquire_ptr& operation, std::uint64_t owner,
                                   std::optional<instant> until, const std::stop_token& stop) {
  constexpr int looks_of_others = 3;
  wait_cycle seen;
  int looks = 0;
  std::uint64_t look = 0;
  for (;;) {
    const auto look_at = context_.time.now() + context_.settings.poll_interval;
    if (until && look_at >= *until) return nullptr;
    if (auto answer = operation->answer.wait_a_while(context_.time, look_at, stop)) return std::move(*answer);
    if (stop.stop_requested()) return nullptr;
    auto cycle = deadlocks_.circle_of(owner, look, until, stop);
    if (cycle.empty() || !is_same_cycle(cycle, seen)) {
      seen = std::move(cycle);
      looks = 0;
      continue;
    }
    const auto last = std::max_element(cycle.begin(), cycle.end(), [](const auto& a, const auto& b) {
      return a.waiter.waiter.hold < b.waiter.waiter.hold;
    });
    if (last->waiter.waiter.hold.owner() != owner && ++looks < looks_of_others) continue;
    if (auto answer = await_acquire(operation, context_.time.now(), {})) return std::move(*answer);
    throw error(errc::deadlock, "a circle of waiters: " + client_layer::describe(cycle));
  }
}

// If it stands in the queue it is taken out here; if a worker has it, the worker finds that nobody waits.
void engine::abandon(const acquire_operation& operation) {
  if (const auto left = waiters_.take(operation)) completions_.withdraw(*left);
  context_.count.busy.fetch_add(1, std::memory_order_relaxed);
}

hold_ptr engine::result_without_answer(const acquire_operation& operation, const wait_limit& how_long,
                                       const std::stop_token& stop) const {
  if (stop.stop_requested()) return stopped(how_long);
  if (const auto why = operation.answer.last_failure()) throw *why;
  if (!how_long.waits) throw no_answer(context_.longest_call());
  return nullptr;
}

engine::prepared engine::prepare(const model::lock_definition& definition, const wait_limit& how_long,
                                 const acquire_options& how, const demand& what) const {
  check_usable();
  if (!model::is_rendezvous(definition.kind)) check_room();
  model::check_hold_times(how.ttl, how.min_hold);
  std::optional<instant> until;
  if (!how_long.waits) {
    until = context_.time.now() + context_.longest_call();
  } else if (how_long.limit) {
    until = later(context_.time.now(), *how_long.limit);
  }
  return {make_operation(definition, how_long.waits, how, what), until};
}

hold_ptr engine::acquire(const model::lock_definition& definition, const wait_limit& how_long,
                         const acquire_options& how, const demand& what) {
  const auto [operation, until] = prepare(definition, how_long, how, what);
  if (how.stop.stop_requested()) return result_without_answer(*operation, how_long, how.stop);
  start_keeper();
  operation->hold = model::hold_id::of_this_thread();
  const auto owner = operation->hold.owner();
  // A wait with a limit, or one that may be stopped, is never bound to a statement's time.
  const bool alone =
      !how_long.limit && !how.stop.stop_possible() &&
      std::any_of(workers_.begin(), workers_.end(), [&, &operation = operation](const auto& lane) {
        return lane->carries(worker_role::acquires) && lane->run_inline(operation);
      });
  if (!alone) queue_.submit(operation);
  if (how.detect_deadlock && how_long.waits) {
    try {
      if (auto granted = await_or_deadlock(operation, owner, until, how.stop)) return granted;
    } catch (...) {
      // Also when the look failed: a request that nobody waits for must not stay.
      abandon_with_grant(*this, *operation);
      throw;
    }
  }
  if (auto answer = await_acquire(operation, until, how.stop)) return std::move(*answer);
  return result_without_answer(*operation, how_long, how.stop);
}

std::optional<model::token> engine::arrive(const model::lock_definition& definition,
                                           const wait_limit& how_long, const std::stop_token& stop) {
  check_usable();
  const auto left = [&]() -> std::optional<model::token> {
    if (!how_long.limit) throw error(errc::cancelled, "the wait at a barrier was stopped");
    return {};
  };
  if (stop.stop_requested()) return left();
  start_keeper();
  const auto operation = std::make_shared<acquire_operation>();
  operation->definition = definition;
  operation->mode = model::lock_mode::shared;
  operation->wait = true;
  std::optional<instant> until;
  if (how_long.limit) until = later(context_.time.now(), *how_long.limit);
  queue_.submit(operation);
  if (const auto answer = operation->answer.wait_a_while(context_.time, until, stop))
    return (*answer)->token();
  // The others may have gone on with this one meanwhile: the database says.
  operation->leaving.store(true);
  if (auto waiting = waiters_.take(*operation)) queue_.submit(std::move(waiting));
  if (const auto answer =
          operation->answer.wait(context_.time, context_.time.now() + context_.longest_call())) {
    return *answer ? (*answer)->token() : left();
  }
  if (const auto waiting = waiters_.take(*operation)) completions_.withdraw(*waiting);
  throw error(errc::unreachable,
              "\"" + definition.name +
                  "\" was left, but the database gave no answer: whether all had arrived before is unknown",
              {}, true);
}

// As far as a release needs it: an idle connection of another worker's says nothing. Without workers the
// lease's connection carries it.
bool engine::is_connected() const {
  if (!queue_.has_connected_worker()) return keeper_.slot().is_connected();
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& lane) {
    return lane->carries(worker_role::releases) && lane->slot().is_connected();
  });
}

release_result engine::await_release(const std::shared_ptr<promised<release_result>>& answer, instant until) {
  if (const auto result = answer->wait(context_.time, std::min(until, end_of_outage()))) {
    outage_ends_.store(instant::max());
    return *result;
  }
  return release_result::unknown;
}

// The first that waits for a connection sets the deadline for all who wait for it.
instant engine::end_of_outage() {
  if (is_connected()) {
    outage_ends_.store(instant::max());
  } else if (outage_ends_.load() == instant::max()) {
    outage_ends_.store(later(context_.time.now(), context_.settings.close_timeout));
  }
  return outage_ends_.load();
}

// Whether its release may be decided from the lock's row alone.
bool engine::is_fast_release(const hold_state& hold) const {
  const bool known = hold.mode() == model::lock_mode::exclusive || model::is_shareable(hold.kind());
  return known && hold.lease()->is_renewed() && hold.keep_until() <= context_.time.now();
}

release_ptr engine::release_of(const hold_state& hold) {
  auto operation = std::make_shared<release_operation>();
  operation->name = hold.name();
  operation->kind = hold.kind();
  operation->mode = hold.mode();
  operation->fair = hold.is_fair();
  operation->hold = hold.id();
  operation->in_use = queue_.ids().use(hold.id());
  operation->was_held = true;
  operation->lease = hold.lease();
  operation->keep_until = hold.keep_until();
  const bool plain = is_fast_release(hold);
  operation->fast = plain && (!hold.is_contended() || !hold.is_fair());
  operation->try_hand_over = plain && hold.is_fair() && hold.mode() == model::lock_mode::exclusive;
  return operation;
}

release_ptr engine::operation_of(hold_state& hold) {
  auto operation = release_of(hold);
  // In any case: the registry would keep a hold, and with it this engine, that a close in another thread has
  // ended. Not before its id is in use by the release: else it would pass for nobody's.
  holds_.remove(hold);
  if (!hold.begin_release()) return nullptr;
  operation->answer = std::make_shared<promised<release_result>>();
  return operation;
}

release_result engine::release(hold_state& hold) {
  const auto until = context_.time.now() + context_.settings.close_timeout;
  auto operation = operation_of(hold);
  if (!operation) return over(hold);
  const auto answer = operation->answer;
  const bool alone = std::any_of(workers_.begin(), workers_.end(), [&](const auto& lane) {
    return lane->carries(worker_role::releases) && lane->run_inline(operation, until);
  });
  if (!alone) queue_.submit(std::move(operation));
  return await_release(answer, until);
}

std::vector<release_result> engine::release(std::span<const hold_ptr> holds) {
  const auto until = context_.time.now() + context_.settings.close_timeout;
  std::vector<release_ptr> operations;
  for (const auto& hold : holds) operations.push_back(operation_of(*hold));
  auto sent = operations;
  std::erase(sent, nullptr);
  queue_.submit(sent);
  std::vector<release_result> results;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    results.push_back(operations[i] ? await_release(operations[i]->answer, until) : over(*holds[i]));
  }
  return results;
}

std::shared_ptr<promised<release_result>> engine::begin_release(hold_state& hold) {
  auto operation = operation_of(hold);
  if (!operation) return nullptr;
  auto answer = operation->answer;
  queue_.submit(std::move(operation));
  return answer;
}

bool engine::sleep(std::chrono::nanoseconds length, const std::stop_token& stop) {
  if (length <= 0ns || stop.stop_requested()) return false;
  promised<bool> nothing;  // but the time and stop end this
  nothing.wait(context_.time, context_.time.now() + length, stop);
  return !stop.stop_requested();
}

release_result engine::change(const std::string& name, release_operation::aim purpose,
                              std::chrono::nanoseconds patience, model::hold_id only) {
  check_usable();
  check_may_write();
  start_workers();
  const auto until = context_.time.now() + patience;
  auto operation = std::make_shared<release_operation>();
  operation->name = name;
  operation->hold = only;
  if (purpose == release_operation::aim::force && only.is_nil()) {
    // Whoever is granted the lock later is not meant, though the answer be lost and the force sent again.
    const auto seen = std::make_shared<std::optional<store::lock_info>>();
    const auto look = tasks_.begin([seen, name](store::session& session) { *seen = session.show(name); });
    if (!tasks_.await(look, until)) return release_result::unknown;
    if (!*seen) return release_result::lost;
    operation->upto = (*seen)->row.token;
  }
  operation->purpose = purpose;
  operation->answer = std::make_shared<promised<release_result>>();
  const auto answer = operation->answer;
  queue_.submit(std::move(operation));
  return await_release(answer, until);
}

// ---- holds that come and go
// ----------------------------------------------------------------------------------------

hold_ptr engine::hold_of(model::hold_id id, const outcome& taken, const std::shared_ptr<lease>& lease,
                         std::uint64_t checks) {
  if (!lease->is_valid(context_.time.now())) return nullptr;
  auto hold = std::make_shared<hold_state>(shared_from_this(), taken.stored, id, taken.token, lease,
                                           taken.mode, taken.weight);
  if (!holds_.add(hold, checks)) return nullptr;
  context_.count.acquired.fetch_add(1, std::memory_order_relaxed);
  return hold;
}

void engine::forget(hold_state& hold) {
  holds_.remove(hold);
  hold.begin_release();
}

void engine::withdraw(const std::string& name, model::hold_id hold, const std::shared_ptr<lease>& lease) {
  completions_.withdraw(name, hold, lease);
}

// ---- the end
// -----------------------------------------------------------------------------------------------------

void engine::release_holds() {
  std::vector<release_ptr> operations;
  auto holds = holds_.all();
  for (const auto& hold : holds) {
    auto operation = release_of(*hold);
    operation->how = store::durability::durable;
    operations.push_back(std::move(operation));
  }
  loss_notifier_.lose(std::move(holds), loss::closed);
  queue_.submit(operations);
}

void engine::release_everything(instant until) {
  release_holds();
  for (const auto& operation : waiters_.close()) {
    completions_.withdraw(*operation);
    operation->answer.fail(
        std::make_exception_ptr(error(errc::closed, "the client was closed during the wait")));
  }
  queue_.drain(until);
  // What was under way may have been granted meanwhile.
  release_holds();
  queue_.drain(until);
}

void engine::close() noexcept {
  if (is_forked() || closed_.exchange(true)) return;
  end_everything();
  // Not under start_mutex_, which a call of the user's may want.
  context_.user_calls.close();
}

void engine::end_everything() noexcept {
  const std::lock_guard start_lock{start_mutex_};
  const auto until = context_.time.now() + context_.settings.close_timeout;
  try {
    queue_.stop_acquires();
    if (workers_started_.load()) release_everything(until);
    async_.close();
    keeper_.stop();
    queue_.stop();
    dialer_.close();
    if (watchdog_) watchdog_->stop();
    loss_notifier_.stop();
    if (const int left = threads_.wait_until(context_.time, until); left > 0) {
      context_.log(log_level::warning, "{} thread(s) still wait for the database; they end by themselves",
                   left);
    }
    const std::lock_guard spare_lock{spare_mutex_};
    spare_for_keeper_.reset();
    spare_for_worker_.reset();
  } catch (const std::exception& failure) {
    context_.log(log_level::warning, "closing: {}", failure.what());
  }
  context_.writer.stop();
  log_thread_.wait_until(context_.time, until);
  context_.writer.drop();
}

std::shared_ptr<engine> closing_handle(std::shared_ptr<engine> engine) {
  struct closer {
    explicit closer(std::shared_ptr<client_layer::engine> closed) : engine(std::move(closed)) {}
    closer(const closer&) = delete;
    closer& operator=(const closer&) = delete;
    ~closer() {
      if (engine->is_forked()) {
        // The parent's sockets and threads: not even their destructors may run here.
        new std::shared_ptr<client_layer::engine>{std::move(engine)};
        return;
      }
      engine->close();
    }
    std::shared_ptr<client_layer::engine> engine;
  };
  auto* raw = engine.get();
  return {std::make_shared<closer>(std::move(engine)), raw};
}

}  // namespace rowlock::client_layer
