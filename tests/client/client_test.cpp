#include "client/client_test.hpp"

#include "client/call/closing_handle.hpp"
#include "client/engine.hpp"
#include "primitives/access.hpp"
#include "support/background.hpp"
#include "support/memory_fixture.hpp"
#include "support/threads.hpp"

#include <algorithm>
#include <stdexcept>

namespace rowlock::test {

namespace {

constexpr auto limit = 60s;

// keep: an object that must live as long as the client's threads.
std::shared_ptr<client_layer::engine> open_engine(std::shared_ptr<store::database> database,
                                                  const options& settings, client_layer::time_source& time,
                                                  std::shared_ptr<void> keep = {}) {
  return client_layer::closing_handle(client_layer::engine::open(
      [database = std::move(database), keep = std::move(keep)] { return database; }, settings, time));
}

// Moves the clock while a client closes: close() waits for delayed work, which would never come due on a clock that
// stands still.
class clock_runner {
 public:
  clock_runner(std::shared_ptr<client_layer::engine> engine, virtual_time& time)
      : engine_(std::move(engine)), time_(time) {}
  clock_runner(const clock_runner&) = delete;
  clock_runner& operator=(const clock_runner&) = delete;
  ~clock_runner() {
    const std::jthread run{[this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(1ms);
        time_.advance(1ms);
      }
    }};
    engine_.reset();
  }

 private:
  std::shared_ptr<client_layer::engine> engine_;
  virtual_time& time_;
};

std::string hold_of(const std::optional<store::lock_info>& info) {
  return info && !info->holders.empty() ? info->holders.front().hold.to_string() : std::string{};
}

}  // namespace

bool eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

attempt::attempt(client db, const std::string& name, std::chrono::milliseconds ttl) {
  result_ = in_background([db = std::move(db), name, ttl, stop = stop_.get_token()] {
    mutex wanted{db, name};
    acquire_options how{.stop = stop};
    if (ttl != 0ms) how.ttl = ttl;
    return wanted.acquire(how);
  });
}

attempt::~attempt() {
  if (!result_.valid()) return;
  stop_.request_stop();
  result_.wait();
}

hold attempt::take() {
  if (result_.wait_for(limit) != std::future_status::ready) {
    throw std::runtime_error("the acquire is not over");
  }
  return result_.get();
}

client make_virtual_client(std::shared_ptr<store::database> database, const options& settings,
                           const std::shared_ptr<virtual_time>& time) {
  const auto handle = open_engine(std::move(database), settings, *time, time);
  return primitives::access::make<client>(
      std::shared_ptr<client_layer::engine>{std::make_shared<clock_runner>(handle, *time), handle.get()});
}

std::optional<errc> code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& thrown) {
    return thrown.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

// ---- on every store ----

client_test::client_test()
    : fixture_(borrow_store_fixture(GetParam())), database_(fixture_->open()), side_(*database_) {
  if (auto* memory = dynamic_cast<memory_fixture*>(fixture_.get())) memory->server().let_time_pass();
}

client_test::~client_test() = default;

options client_test::patient() {
  options settings;
  settings.close_timeout = 20s;
  settings.application = "client tests";
  return settings;
}

options client_test::slow_to_renew() {
  auto settings = patient();
  settings.ttl = 1h;
  return settings;
}

options client_test::quick_to_renew() {
  auto settings = patient();
  settings.renew_interval = 500ms;
  return settings;
}

client client_test::new_client(options settings) {
  if (fixture_->url().empty()) {
    return primitives::access::make<client>(
        open_engine(fixture_->open(), settings, client_layer::system_time()));
  }
  settings.prefix = fixture_->options().prefix;
  return connect(fixture_->url(), settings);
}

bool client_test::is_held(const std::string& name) {
  return !holder_of(name).empty();
}

std::string client_test::holder_of(const std::string& name) {
  return hold_of(side().show(name));
}

model::lease_id client_test::lease_of(const std::string& name) {
  const auto info = side().show(name);
  if (!info || info->holders.empty()) throw std::runtime_error("nobody holds " + name);
  return info->holders.front().lease.id;
}

fencing_token client_test::token_of(const std::string& name) {
  const auto info = side().show(name);
  return fencing_token{info ? info->row.token : 0};
}

void client_test::kill(const model::lease_id& lease) {
  fixture().expire(lease);
  side().kill(std::vector{lease}, 0us);
}

attempt client_test::waiting(const client& db, const std::string& name) {
  const auto before = queued(name);
  attempt made{db, name};
  EXPECT_TRUE(eventually([&] { return queued(name) == before + 1; }));
  return made;
}

// ---- on the memory store ----

virtual_client_test::~virtual_client_test() {
  faults_->detach();
  EXPECT_TRUE(soon([] {
    return std::ranges::none_of(other_threads(),
                                [](const auto& one) { return one.name.starts_with("rowlock-"); });
  })) << "a thread is still running";
}

options virtual_client_test::calm() {
  options settings;
  settings.renew_interval = 10s;
  settings.margin = 1s;
  settings.sweep_interval.reset();
  return settings;
}

client virtual_client_test::new_client(const options& settings) {
  return make_virtual_client(server->open(), settings, time_);
}

void virtual_client_test::advance(std::chrono::milliseconds by) {
  virtual_time::let_others_sleep();
  // The database's clock moves first. If a renewal comes in between, the lease then ends later in the database than in
  // the client, which is harmless.
  server->advance(by);
  time.advance(by);
}

void virtual_client_test::let_the_watchdog_sleep() {
  advance(250ms);
  virtual_time::let_others_sleep();
}

bool virtual_client_test::soon(const std::function<bool()>& condition) {
  return eventually([&, steps = 0]() mutable {
    if (condition()) return true;
    advance(virtual_time::next_step(steps++));
    return condition();
  });
}

client virtual_client_test::new_impatient_client() {
  auto settings = calm();
  settings.close_timeout = 2s;
  auto made = new_client(settings);
  mutex(made, "warm").acquire().release();
  return made;
}

void virtual_client_test::close_beside_user_code(client& db, std::promise<void>& go_on) {
  auto closed = in_background([&] { db.close(); });
  for (int i = 0; i < 100; ++i) {
    time.advance(50ms);
    EXPECT_EQ(closed.wait_for(1ms), std::future_status::timeout);
  }
  go_on.set_value();
  ASSERT_TRUE(eventually([&] {
    time.advance(50ms);
    return closed.wait_for(1ms) == std::future_status::ready;
  }));
}

void virtual_client_test::close_while_the_database_hangs(client& db, const std::function<bool()>& is_told) {
  ASSERT_TRUE(eventually([&] { return server->blocked() == 1; }));
  auto closed = in_background([&] { db.close(); });
  EXPECT_TRUE(eventually([&] {
    time.advance(10ms);
    return is_told();
  }));
  EXPECT_EQ(server->blocked(), 1U);
  faults.forget();
  server->unblock();
  EXPECT_TRUE(soon([&] { return closed.wait_for(0s) == std::future_status::ready; }));
}

void virtual_client_test::pass_renewals(const client& db, int count) {
  for (; count > 0; --count) {
    const auto before = db.stats().renewals;
    advance(10s);
    ASSERT_TRUE(eventually([&] { return db.stats().renewals > before; }));
    // If the clock moved while the keeper still checks its holds, that check would seem overdue.
    const auto rests = faults.count("wait");
    ASSERT_TRUE(eventually([&] { return faults.count("wait") > rests; }));
  }
}

std::size_t virtual_client_test::queued(const std::string& name) const {
  const auto tables = server->snapshot();
  const auto found = tables.queues.find(name);
  return found == tables.queues.end() ? 0 : found->second.size();
}

std::string virtual_client_test::holder_of(const std::string& name) const {
  const auto tables = server->snapshot();
  const auto found = tables.locks.find(name);
  return found == tables.locks.end() || !found->second.row.hold ? std::string{}
                                                                : found->second.row.hold->to_string();
}

bool virtual_client_test::knows_places(const client& db, std::uint64_t count) {
  return eventually([&] { return db.stats().waits >= count; });
}

attempt virtual_client_test::waiting(const client& db, const std::string& name) {
  const auto before = queued(name);
  attempt made{db, name};
  EXPECT_TRUE(eventually([&] { return queued(name) == before + 1; }));
  return made;
}

}  // namespace rowlock::test
