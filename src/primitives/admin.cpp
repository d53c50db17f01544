#include <rowlock/admin.hpp>

#include "client/base/backoff.hpp"
#include "client/call/force_release.hpp"
#include "client/core/history_lines.hpp"
#include "client/engine.hpp"
#include "model/names.hpp"
#include "primitives/access.hpp"
#include "primitives/lock_info.hpp"
#include "primitives/prune_histories.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using primitives::access;
using primitives::to_public;
using std::chrono::milliseconds;

client_layer::engine& engine_of(const client& db) {
  return *access::engine(db);
}

// The holds that a release request covers. Another process that adopts one gives it another id, and it keeps its token.
// A reader that upgrades keeps its id, and gets a later token.
class asked_holds {
 public:
  asked_holds(model::token upto, std::vector<model::hold_id> ids) : upto_{upto}, ids_{std::move(ids)} {}

  model::token upto() const { return upto_; }
  // Those that the lock still has, and whose lease has not expired. A lock that rests has none.
  std::vector<model::hold_id> left(const std::optional<store::lock_info>& lock) {
    std::vector<model::hold_id> held;
    if (!lock) return held;
    for (const auto& holder : lock->holders) {
      const bool is_known = std::ranges::find(ids_, holder.hold) != ids_.end();
      if ((!is_known && holder.token > upto_) || holder.expires_in <= milliseconds{0} ||
          model::rests(holder.hold, holder.lease.id)) {
        continue;
      }
      if (!is_known) ids_.push_back(holder.hold);
      held.push_back(holder.hold);
    }
    return held;
  }

 private:
  model::token upto_;
  std::vector<model::hold_id> ids_;
};

// Returns true if somebody lost the lock.
bool force(client_layer::engine& on, const std::string& name, model::hold_id only,
           std::optional<model::token> upto = {}) {
  switch (client_layer::force_release(on, name, on.environment().settings.statement_timeout, only, upto)) {
    case release_result::released: return true;
    case release_result::lost: return false;
    case release_result::pending:
      throw error(errc::contention,
                  "\"" + name +
                      "\" is locked by a guarded transaction of its holder; it is released when that ends, "
                      "if this process still runs then. End that transaction, or retry",
                  {}, true);
    case release_result::unknown: break;
  }
  throw error(errc::unreachable,
              "the database cannot be reached; whether \"" + name + "\" was released is unknown", {}, true);
}

std::optional<store::lock_info> look(client& db, const std::string& name, const std::stop_token& stop = {}) {
  return access::tasks(db).result_of([name](store::admin_verbs& session) { return session.show(name); },
                                     {.stop = stop});
}

// Returns true if one of them lost the lock. The holds are named by their tokens first, because another process may
// adopt one at this moment. Those that are left have a later token.
bool force_asked(client& db, const std::string& name, asked_holds& asked) {
  bool forced = force(engine_of(db), name, {}, asked.upto());
  for (const auto& hold : asked.left(look(db, name))) {
    forced = force(engine_of(db), name, hold, std::numeric_limits<model::token>::max()) || forced;
  }
  return forced;
}

// Reads which names are recorded, for changes that need no lease. Does nothing for a read-only client, whose change is
// refused anyway.
void update_recorded(client_layer::engine& on) {
  if (on.environment().settings.read_only) return;
  on.tasks().result_of([&on](store::session& session) {
    client_layer::update_recorded(on.environment(), session, session.read_database_state().recordings);
    return true;
  });
}

}  // namespace

const char* to_string(release_request_result result) noexcept {
  switch (result) {
    case release_request_result::unheld: return "unheld";
    case release_request_result::released: return "released";
    case release_request_result::kept: return "kept";
    case release_request_result::forced: return "forced";
  }
  return "unknown";
}

admin::admin(client db) : db_(std::move(db)) {}

std::vector<lock_info> admin::list() {
  constexpr std::size_t at_once = 1000;
  std::vector<lock_info> shown;
  for (std::string after;;) {
    auto page = list(after, at_once);
    const bool is_last = page.size() < at_once;
    if (!is_last) after = page.back().name;
    std::ranges::move(page, std::back_inserter(shown));
    if (is_last) return shown;
  }
}

std::vector<lock_info> admin::list(const std::string& after, std::size_t limit) {
  if (!after.empty()) model::check_name(after);
  const auto most = std::min(limit, store::admin_verbs::no_limit);
  std::vector<lock_info> shown;
  for (const auto& info : access::tasks(db_).result_of(
           [after, most](store::admin_verbs& session) { return session.list(after, most); })) {
    shown.push_back(to_public(info, engine_of(db_)));
  }
  return shown;
}

std::optional<lock_info> admin::show(const std::string& name) {
  model::check_name(name);
  const auto info =
      access::tasks(db_).result_of([name](store::admin_verbs& session) { return session.show(name); });
  if (!info) return {};
  return to_public(*info, engine_of(db_));
}

std::vector<waiter_info> admin::queue(const std::string& name) {
  model::check_name(name);
  std::vector<waiter_info> shown;
  for (const auto& info :
       access::tasks(db_).result_of([name](store::admin_verbs& session) { return session.queue(name); })) {
    shown.push_back(to_public(info, engine_of(db_)));
  }
  return shown;
}

std::vector<std::vector<stuck_waiter>> admin::cycles() {
  const auto look = [this] {
    return client_layer::find_cycles(access::tasks(db_).result_of(client_layer::read_contended));
  };
  const auto before = look();
  std::vector<std::vector<stuck_waiter>> shown;
  for (const auto& cycle : look()) {
    const auto same = [&](const auto& other) { return client_layer::is_same_cycle(cycle, other); };
    if (std::none_of(before.begin(), before.end(), same)) continue;
    auto& members = shown.emplace_back();
    for (const auto& [name, waiter] : cycle) members.push_back({name, to_public(waiter, engine_of(db_))});
  }
  return shown;
}

bool admin::release(const std::string& name, std::optional<hold_id> only) {
  model::check_name(name);
  if (only && only->is_nil()) {
    throw error(
        errc::invalid_argument,
        "an id of zeros is that of a lock that rests, not of a hold; leave the id out to end the rest");
  }
  update_recorded(engine_of(db_));
  return force(engine_of(db_), name, only ? model::hold_id{*only} : model::hold_id{});
}

release_request_result admin::request_release(const std::string& name, const release_request_options& how) {
  model::check_name(name);
  model::check_value(how.reason);
  model::check_request_time(how.within);
  auto& engine = engine_of(db_);
  update_recorded(engine);
  const auto until = engine.environment().time.now() + how.within;
  const auto asked = engine.tasks().decide(name, {},
                                           [reason = how.reason, within = how.within](const auto& view) {
                                             return client_layer::decide_request(view, reason, within);
                                           },
                                           {.stop = how.stop});
  if (asked.result == client_layer::outcome::what::absent) return release_request_result::unheld;
  asked_holds holds{asked.token, asked.asked};
  auto pause = client_layer::request_poll();
  std::optional<client_layer::instant> unanswered_since;
  for (;;) {
    try {
      if (holds.left(look(db_, name, how.stop)).empty()) return release_request_result::released;
      unanswered_since.reset();
    } catch (const error& failure) {
      if (failure.code() == errc::cancelled) return release_request_result::kept;
      const auto now = engine.environment().time.now();
      if (!unanswered_since) unanswered_since = now;
      const bool goes_on =
          now - *unanswered_since < engine.environment().longest_call() && (now < until || how.then_force);
      if (!failure.transient() || !goes_on) throw;
    }
    if (engine.sleep(
            std::min<std::chrono::nanoseconds>(pause.next(), until - engine.environment().time.now()),
            how.stop)) {
      continue;
    }
    if (!how.then_force || how.stop.stop_requested()) return release_request_result::kept;
    update_recorded(engine);
    return force_asked(db_, name, holds) ? release_request_result::forced : release_request_result::released;
  }
}

sweep_result admin::sweep() {
  sweep_result total;
  const std::chrono::microseconds skew = engine_of(db_).environment().skew();
  constexpr std::size_t at_once = 1000;
  update_recorded(engine_of(db_));
  // Kills the leases first: what they held becomes stale when they are killed.
  for (bool goes_on = true; goes_on;) {
    const auto [found, killed] = access::tasks(db_).result_of([skew](store::session& session) {
      // Leases may be judged by this server's clock only after they have been lengthened for it.
      session.record_database_state();
      const auto expired = session.find_stale(at_once, skew).leases;
      return std::pair{expired.size(), session.kill(expired, skew).size()};
    });
    total.leases += static_cast<std::int64_t>(killed);
    // Leases that others use at this moment are not killed.
    goes_on = found == at_once && killed > 0;
  }
  for (std::string after;;) {
    const auto found = access::tasks(db_).result_of(
        [skew, after](store::lock_verbs& session) { return session.find_stale(at_once, skew, after); });
    for (const auto& name : found.names) {
      const auto result = client_layer::sweep_lock(engine_of(db_), name,
                                                   engine_of(db_).environment().settings.statement_timeout);
      if (result == release_result::unknown) {
        throw error(errc::unreachable,
                    "the database did not answer in time; whether \"" + name + "\" was cleaned is unknown",
                    {}, true);
      }
      if (result != release_result::pending) ++total.locks;
    }
    if (found.next.empty()) return total;
    after = found.next;
  }
}

std::int64_t admin::collect(time_span idle) {
  if (idle < milliseconds{0} || idle > std::chrono::hours{24 * 3653}) {
    throw error(errc::invalid_argument,
                "an idle time of " + std::to_string(idle.count()) + " ms is outside 0 to ten years");
  }
  constexpr std::size_t at_once = 1000;
  const auto& time = engine_of(db_).environment().time;
  const auto begun = time.now();
  std::int64_t total = 0;
  // A page may delete fewer locks than it has found, because others use some of them. Every page looks for the locks
  // that were unused when the first page began, so that the loop ends although others go on making locks.
  for (std::int64_t deleted = 1; deleted > 0; total += deleted) {
    const auto age = idle + std::chrono::duration_cast<milliseconds>(time.now() - begun);
    deleted = access::tasks(db_).result_of(
        [age](store::admin_verbs& session) { return session.collect(age, at_once); });
  }
  primitives::prune_histories(access::tasks(db_));
  return total;
}

std::int64_t admin::epoch() {
  return access::tasks(db_).result_of(
      [](store::lock_verbs& session) { return session.read_database_state().epoch; });
}

milliseconds admin::skew() {
  return access::tasks(db_).result_of(
      [](store::lock_verbs& session) { return session.read_database_state().skew; });
}

void admin::set_skew(time_span skew) {
  if (skew < milliseconds{0} || skew > std::chrono::hours{24}) {
    throw error(errc::invalid_argument,
                "a skew of " + std::to_string(skew.count()) + " ms is outside 0 to 24 hours");
  }
  access::tasks(db_).result_of([skew](store::session& session) {
    session.set_skew(skew);
    return true;
  });
}

std::int64_t admin::raise_epoch(fencing_token above) {
  // JSON would round a token beyond 2^53, and later tokens need room below that.
  if (above.value() < 0 || above.value() >= std::int64_t{1} << 52) {
    throw error(errc::invalid_argument, "a token of " + above.to_string() + " is outside 0 to 2^52 - 1");
  }
  return access::tasks(db_).result_of(
      [above](store::admin_verbs& session) { return session.raise_epoch(above.value()); });
}

ROWLOCK_END_NAMESPACE
