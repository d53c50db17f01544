#include "client/engine.hpp"

#include "client/base/settings.hpp"
#include "model/fork_count.hpp"

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

}  // namespace

std::shared_ptr<engine> engine::open(database_source source, const options& settings, time_source& time) {
  auto made = std::make_shared<engine>(std::move(source), checked_settings(settings), time);
  made->connect_first();
  return made;
}

engine::engine(database_source source, const options& settings, time_source& time)
    : environment_{settings, time},
      source_(environment_, std::move(source)),
      settler_(environment_, agenda_, queue_, waiters_, holds_, releases_, contended_,
               [this](const granted_hold& granted) {
                 return std::make_shared<hold_state>(shared_from_this(), environment_.time, granted.lock,
                                                     granted.id, granted.token, granted.lease, granted.mode,
                                                     granted.weight, granted.ending);
               }),
      loss_notifier_(environment_, holds_),
      keeper_(environment_, agenda_, queue_, waiters_, settler_, holds_, releases_, loss_notifier_,
              [this] { return source_.connect(connection_source::spare::keeper); }),
      reconcile_(environment_, queue_, holds_),
      services_{environment_, queue_, settler_, contended_, agenda_, reconcile_},
      tasks_(services_,
             [this] {
               check_usable();
               start_workers();
             }),
      deadlocks_(environment_, queue_),
      releaser_(environment_, queue_, holds_, workers_, keeper_.slot()),
      fallback_(services_, keeper_.slot()) {
  keeper_.lend_to([this] { fallback_.note_connection(); },
                  [this](instant until) { fallback_.run_fallback(until); });
  environment_.ghosts.on_forgotten = [this] { reconcile_.request_repeatedly(); };
  keeper_.on_database_changed([this](const store::database_state& state) { reconcile_.request_in(state); });
}

engine::~engine() = default;

void engine::connect_first() {
  const auto database = source_.database();
  auto& session = source_.make_spares(database);
  // A read-only client, which may be connected to a standby, kills no lease and so needs no skew.
  if (!environment_.settings.read_only) {
    environment_.stored_skew_ms.store(session.read_database_state().skew.count());
  }
  for (const auto mode : {model::lock_mode::exclusive, model::lock_mode::shared}) {
    auto& guard = mode == model::lock_mode::shared ? shared_guard_ : exclusive_guard_;
    guard = {database->guard_sql(mode), database->guard_write_sql(mode)};
  }
  if (database->must_poll()) keeper_.must_poll();
  if (auto danger = session.warning(); !danger.empty()) {
    environment_.log(log_level::warning, "{}", danger);
    keeper_.warned_of(std::move(danger));
  }
  if (database->single_writer()) keeper_.breaks_with_workers();
  make_workers(database->single_writer() ? 1 : environment_.settings.connections - 1);
}

// Acquires wait for the disk and fast releases do not, so each have workers of their own if there are at least two.
void engine::make_workers(int count) {
  std::vector<session_slot*> slots{&keeper_.slot()};
  queue_.split_roles(count > 1);
  for (int i = 0; i < count; ++i) {
    const auto role = count == 1   ? worker_role::everything
                      : i % 2 == 0 ? worker_role::acquires
                                   : worker_role::releases;
    const auto spare = i == 0 ? std::optional{connection_source::spare::worker} : std::nullopt;
    workers_.push_back(std::make_unique<statement_worker>(services_, role,
                                                          [this, spare] { return source_.connect(spare); }));
    slots.push_back(&workers_.back()->slot());
  }
  watchdog_ = std::make_unique<watchdog>(environment_, keeper_, holds_, loss_notifier_, async_, slots);
  watchdog_->on_round = [this] { reconcile_.send_what_is_left(); };
}

// ---- threads ----

void engine::start_workers() {
  if (workers_started_.load(std::memory_order_acquire)) return;
  const model::annotated_lock lock{start_mutex_};
  if (workers_started_.load() || closed_.load()) return;
  if (!environment_.writer.is_silent() || environment_.writer.tells_events()) {
    log_thread_.start_once(
        "log", "rowlock-log", [this] { environment_.writer.run(); }, shared_from_this());
    environment_.writer.start();
  }
  const auto own = shared_from_this();
  threads_.start_once(
      "watch", "rowlock-watch", [this] { watchdog_->run(); }, own);
  threads_.start_once(
      "loss", "rowlock-loss", [this] { loss_notifier_.run(); }, own);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    threads_.start_once(
        fmt::format("worker {}", i), "rowlock-worker", [raw = workers_[i].get()] { raw->run(); }, own);
  }
  workers_started_.store(true, std::memory_order_release);
}

void engine::start_keeper() {
  if (keeper_started_.load(std::memory_order_acquire)) return;
  check_may_write();
  start_workers();
  const model::annotated_lock lock{start_mutex_};
  if (keeper_started_.load() || closed_.load()) return;
  threads_.start_once(
      "lease", "rowlock-lease", [this] { keep_lease(); }, shared_from_this());
  reconcile_.begin_routine();
  keeper_started_.store(true, std::memory_order_release);
}

void engine::keep_lease() noexcept {
  keeper_.run();
  keeper_.end_lease();
  keeper_.slot().close();
}

async_waiters& engine::start_async() {
  if (async_started_.load(std::memory_order_acquire)) return async_;
  check_usable();
  start_workers();  // with them the log's thread: what an executor throws must not be logged on the executors' thread
  const model::annotated_lock lock{start_mutex_};
  check_usable();
  if (async_started_.load()) return async_;
  threads_.start_once(
      "async", "rowlock-async", [this] { async_.run(); }, shared_from_this());
  async_started_.store(true, std::memory_order_release);
  return async_;
}

// ---- what a call checks and needs ----

bool engine::is_forked() const noexcept {
  return model::fork_count() != environment_.fork_count;
}

void engine::check_process() const {
  if (!is_forked()) return;
  throw error(errc::forked,
              fmt::format("this client was made by process {} before a fork; the child must make its own "
                          "with rowlock::connect",
                          environment_.process.pid));
}

void engine::check_usable() const {
  check_process();
  if (closed_.load(std::memory_order_relaxed)) throw closed_client();
}

void engine::check_may_write() const {
  if (!environment_.settings.read_only) return;
  throw error(errc::read_only,
              "this client only reads (options::read_only); connect without that option to use locks");
}

hold_room::place engine::take_room(std::size_t wanted) const {
  const auto most = environment_.holds_at_most();
  std::size_t present = 0;
  const auto count = [&] { return present = holds_.size(); };
  if (auto place = room_.take(wanted, count, most)) return place;
  throw error(errc::invalid_argument,
              fmt::format("this client has {} holds, {} requests under way and requests {} more; with "
                          "options::margin at {} ms it may "
                          "have {} holds, so that all can be notified of a loss in time: set a longer "
                          "margin, or use another client",
                          present, room_.taken(), wanted, environment_.settings.margin.count(), most));
}

void engine::begin_work() {
  check_usable();
  check_may_write();
  start_workers();
}

bool engine::sleep(std::chrono::nanoseconds length, const std::stop_token& stop) {
  if (length <= 0ns || stop.stop_requested()) return false;
  if (environment_.pauses.sleep_until(later(environment_.time.now(), length), stop)) return true;
  check_usable();
  return false;
}

// ---- the end ----

// Holders are told before the releases are sent, and each release marks its hold's id as in use before the
// hold leaves the registry, because reconciliation would take the hold for an orphan otherwise.
void engine::release_holds() noexcept {
  auto lost = holds_.lose_all(loss::closed);
  release_list releases;
  for (const auto& hold : lost) releases.push(releaser_.closing_release(*hold));
  for (const auto& hold : lost) holds_.remove(*hold);
  loss_notifier_.deliver(std::move(lost));
  queue_.submit(std::move(releases));
}

void engine::release_everything(instant until) noexcept {
  release_holds();
  for (auto left = waiters_.close(); !left.empty();) {
    const auto operation = left.pop();
    queue_.withdraw(*operation);
    operation->answer.fail(made_failure(closed_during_wait));
  }
  queue_.drain(until);
  // Requests that were under way may have been granted meanwhile.
  release_holds();
  queue_.drain(until);
}

void engine::close() noexcept {
  if (is_forked() || closed_.exchange(true)) return;
  end_everything();
  // Not under start_mutex_, which the user's code may need.
  environment_.user_calls.close();
}

void engine::end_everything() noexcept {
  const model::annotated_lock start_lock{start_mutex_};
  const auto until = environment_.time.now() + environment_.settings.close_timeout;
  // No step needs memory.
  queue_.stop_acquires();
  environment_.pauses.close();
  if (workers_started_.load()) release_everything(until);
  async_.close();
  keeper_.stop();
  queue_.stop();
  source_.close();
  if (watchdog_) watchdog_->stop();
  loss_notifier_.stop();
  if (const int left = threads_.wait_until(environment_.time, until); left > 0) {
    environment_.log(log_level::warning, "{} thread(s) still wait for the database; they end by themselves",
                     left);
  }
  environment_.writer.stop();
  log_thread_.wait_until(environment_.time, until);
  environment_.writer.drop();
}

}  // namespace rowlock::client_layer
