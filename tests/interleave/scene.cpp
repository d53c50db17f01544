#include "scene.hpp"

#include "store/open.hpp"
#include "support/stores.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <cstdlib>

namespace rowlock::test {

using namespace std::chrono_literals;

namespace {

// The URL of the server's administrator: the fixture's own may be that of a user with hostile settings.
std::string reading_url(const std::string& store, const store_fixture& fixture) {
  if (store == "postgres") return std::getenv("ROWLOCK_TEST_POSTGRES_URL");
  return fixture.url();
}

std::unique_ptr<server_view> view_of(const std::string& store, const std::string& url) {
  if (store == "postgres") return open_postgres_view(url);
  if (has_mysql_dialect(store)) return open_mysql_view(url);
  return open_sqlite_view();
}

}  // namespace

stage::stage(const std::string& store) : store_{store}, fixture_{make_store_fixture(store)} {
  auto options = fixture_->options();
  // A connection that the schedule keeps waiting must not exceed a limit.
  options.statement_timeout = 120s;
  database_ = store::open(fixture_->url(), options);
  const auto url = reading_url(store, *fixture_);
  server_ = view_of(store, url);
  reader_ = sql_session::open(url);
  helper_ = database_->connect();
  helper_->record_database_state();
}

store::session& stage::session(std::size_t number) {
  while (sessions_.size() <= number) sessions_.push_back(database_->connect());
  return *sessions_[number];
}

scene::scene(stage& on, order& choices)
    : stage_{on},
      choices_{choices},
      run_{model::id128::random().to_string().substr(0, 12)},
      steps_{on.server(), choices.is_patient()} {}

lease_id scene::lease(std::chrono::milliseconds ttl) {
  store::lease_record made;
  made.id = made.client = lease_id::random();
  made.host = "host";
  made.pid = 1;
  made.application = run_;
  made.ttl = ttl;
  stage_.helper().create_lease(made);
  return made.id;
}

void scene::create(const store::acquire_item& item) {
  const model::lock_definition made{
      .name = item.name, .kind = item.kind, .capacity = item.capacity, .fair = item.fair};
  stage_.helper().create({&made, 1});
}

wish& scene::add(store::acquire_item item) {
  item.lease = lease();
  item.hold = hold_id::random();
  create(item);
  wishes_.push_back(std::make_unique<wish>());
  wishes_.back()->item = std::move(item);
  return *wishes_.back();
}

wish& scene::mutex(const std::string& of) {
  return add({.name = name(of), .lease = {}, .hold = {}});
}

wish& scene::permits(const std::string& of, std::int64_t weight, std::int64_t capacity) {
  return add({.name = name(of),
              .kind = model::lock_kind::semaphore,
              .capacity = capacity,
              .lease = {},
              .hold = {},
              .mode = model::lock_mode::shared,
              .weight = weight});
}

wish& scene::shared(const std::string& of, bool exclusive) {
  return add({.name = name(of),
              .kind = model::lock_kind::shared_mutex,
              .capacity = model::shared_mutex_capacity,
              .lease = {},
              .hold = {},
              .mode = exclusive ? model::lock_mode::exclusive : model::lock_mode::shared,
              .weight = exclusive ? model::shared_mutex_capacity : 1});
}

wish& scene::held(wish& wanted) {
  caller{*this, stage_.helper()}.acquire(wanted);
  if (wanted.is != wish::belief::holds) throw std::runtime_error("the scene could not begin with that hold");
  return wanted;
}

wish& scene::queued(wish& wanted) {
  caller{*this, stage_.helper()}.acquire(wanted);
  if (wanted.is != wish::belief::waits)
    throw std::runtime_error("the scene could not begin with that waiter");
  return wanted;
}

void scene::kill(const wish& of) {
  expire(of);
  if (stage_.helper().kill({&of.item.lease, 1}, 0us).empty()) throw std::runtime_error("no lease was killed");
}

void scene::does(const std::string& who, std::function<void(caller&)> calls) {
  auto& session = stage_.session(callers_.size());
  auto* made = callers_.emplace_back(std::make_unique<caller>(*this, session)).get();
  steps_.add(who, [made, calls = std::move(calls)] { calls(*made); });
}

std::string scene::run() {
  const auto read = [&] { return read_tables(stage_.reader(), stage_.prefix(), run_); };
  rules_ = std::make_unique<table_rules>(read());
  if (clock_may_change_) rules_->clock_may_change();
  if (epoch_may_rise_) rules_->epoch_may_rise();
  try {
    steps_.run([&](std::size_t n) { return choices_.pick(n); },
               [&] {
                 if (found_.empty()) found_ = rules_->after_step(read());
               });
  } catch (const std::exception& problem) {
    found_ += std::string{"I10: a call failed: "} + problem.what() + '\n';
  }
  if (found_.empty() && waiters_poll_) {
    poll();
    found_ = rules_->after_step(read());
  }
  if (found_.empty() && !dead_may_remain_) found_ = rules_->at_the_end();
  if (found_.empty()) found_ = check_beliefs();
  return found_;
}

void scene::poll() {
  caller poller{*this, stage_.helper()};
  for (const auto& one : wishes_) {
    if (one->is != wish::belief::waits) continue;
    const store::hold_query query{one->item.name, one->item.hold};
    const auto takeover = stage_.helper().find({&query, 1}).front().takeover_in;
    if (takeover && *takeover <= 0us) poller.edit_acquire(*one);
  }
}

std::string scene::check_beliefs() const {
  std::string found;
  const auto& now = rules_->now();
  for (const auto& one : wishes_) {
    const auto hold = one->item.hold.to_string();
    const auto& name = one->item.name;
    const bool may_be_lost = std::ranges::find(may_be_lost_, hold) != may_be_lost_.end();
    const auto wrong = [&](const std::string& what) { found += what + ": " + hold + " of " + name + '\n'; };
    const auto granted = rules_->grants().find(hold);
    if (one->token && granted != rules_->grants().end() && *one->token != granted->second) {
      wrong("I7: a call returned another token than the tables show");
    }
    switch (one->is) {
      case wish::belief::nothing: break;
      case wish::belief::holds:
        if (!may_be_lost && !now.holds(name, hold)) wrong("I6: a hold is gone that its client believes in");
        break;
      case wish::belief::waits:
        if (!may_be_lost && !now.holds(name, hold) && !now.waits(name, hold)) wrong("I6: a waiter is gone");
        break;
      case wish::belief::released:
      case wish::belief::refused:
        if (now.holds(name, hold)) wrong("I6: a hold stands that its client does not know");
        if (now.waits(name, hold)) wrong("I6: a place in the queue stands that its client does not know");
        break;
    }
  }
  return found;
}

}  // namespace rowlock::test
