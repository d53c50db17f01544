#include "client/core/reconciliation.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// How many names a step reads. That takes a few milliseconds, so it hardly delays an acquire on the same connection.
constexpr std::size_t page_size = 1000;
constexpr std::chrono::nanoseconds shortest_pause = 1ms;
constexpr std::chrono::nanoseconds longest_pause = 1s;
// The interval of routine readings. The pause after a reading is at least routine_share times its length.
constexpr std::chrono::microseconds routine = 10min;
constexpr int routine_share = 100;
// The factor by which the intervals of request_repeatedly() grow, up to the routine interval.
constexpr int repeat_factor = 4;
// After this long without a reading, the pauses between readings begin short again.
constexpr auto quiet = 2min;

// Whether the entry makes a lock rest after its holder has gone, as the lock's or the holder's options say.
bool rests(const store::held_entry& entry) {
  return entry.hold.is_nil() || entry.lease == model::lease_id::belonging_to(entry.hold);
}

}  // namespace

void reconciliation::request(std::chrono::nanoseconds in) noexcept {
  const auto now = environment_.time.now();
  model::annotated_lock lock{mutex_};
  const auto at = now + in;
  if (!first_ || at < *first_) first_ = at;
  last_ = std::max(last_, at);
  // A reading that is under way checks at its end what was requested meanwhile.
  if (runs_ || client_) return;
  const auto wish = std::max(*first_, not_before_);
  if (due_ && wish >= *due_) return;
  const auto next = plan(wish - now);
  lock.unlock();
  send(next);
}

void reconciliation::request_repeatedly() noexcept {
  const auto first = 3 * environment_.settings.statement_timeout;
  {
    const model::annotated_lock lock{mutex_};
    repeat_in_ = repeat_factor * first;
  }
  request(first);
}

void reconciliation::begin_routine() noexcept {
  model::annotated_lock lock{mutex_};
  const auto now = environment_.time.now();
  plan_routine(now);
  if (due_ || runs_) return;
  const auto next = plan(routine_at_ - now);
  lock.unlock();
  send(next);
}

void reconciliation::plan_routine(instant now) {
  routine_at_ =
      now + std::max<std::chrono::nanoseconds>(backoff{routine, routine}.next(), routine_share * took_);
}

// Nothing is held, and nothing was requested since the last reading, so there can be no orphans.
bool reconciliation::is_idle() const {
  return holds_.empty() && asked() == asked_before_;
}

std::uint64_t reconciliation::asked() const {
  const auto& count = environment_.count;
  return count.acquired.load() + count.waits.load() + count.busy.load();
}

// instant::max(): none is planned.
instant reconciliation::next_reading() const {
  return std::min(first_ ? std::max(*first_, not_before_) : instant::max(), routine_at_);
}

void reconciliation::request_in(const store::database_state& database_state) {
  {
    const model::annotated_lock lock{mutex_};
    identity_ = database_state.identity;
  }
  const auto spread =
      std::chrono::duration_cast<std::chrono::microseconds>(environment_.settings.poll_interval);
  request(backoff{spread, spread}.next());
}

reconciliation::next_step reconciliation::plan(std::chrono::nanoseconds pause) {
  pause = std::max(pause, std::chrono::nanoseconds{0});
  due_ = environment_.time.now() + pause;
  const auto number = ++sent_;
  succeeded_ = false;
  return {number, pause};
}

void reconciliation::send(const next_step& planned) noexcept {
  if (queue_.is_stopping()) return;
  const auto number = planned.number;
  try {
    const auto task = std::make_shared<task_operation>();
    task->work = [this, number](store::lock_verbs& session) { step(session, number); };
    task->answer.on_complete([this, number] { after_step(number); });
    queue_.submit_background(task, planned.pause);
  } catch (...) {
    left_.store(number);
  }
}

void reconciliation::send_what_is_left() noexcept {
  const auto number = left_.exchange(0);
  if (number == 0) return;
  std::chrono::nanoseconds pause{};
  {
    const model::annotated_lock lock{mutex_};
    if (number != sent_ || !due_) return;
    pause = std::max(*due_ - environment_.time.now(), pause);
  }
  send({number, pause});
}

void reconciliation::step(store::lock_verbs& session, std::uint64_t number) {
  std::shared_ptr<lease> client;
  if (!begin(number, client)) return;
  const auto is_new = [this](const std::exception& failure) {
    const model::annotated_lock lock{mutex_};
    return failures_.due(failure.what(), environment_.time.now()).has_value();
  };
  try {
    if (client) read_page(session, client);
  } catch (const std::exception& failure) {
    if (is_new(failure)) {
      environment_.log(log_level::warning, "cannot read what this client holds: {}", failure.what());
    }
    throw;
  }
  const model::annotated_lock lock{mutex_};
  succeeded_ = true;
}

// False: another step has replaced this one. client: becomes client_, which no other step changes while this
// one runs; null if there is nothing to read.
bool reconciliation::begin(std::uint64_t number, std::shared_ptr<lease>& client) {
  const auto current = queue_.lease();
  const model::annotated_lock lock{mutex_};
  if (number != sent_) return false;
  runs_ = true;
  const auto now = begun_at_ = environment_.time.now();
  // What stood on an ended lease is gone with it.
  if (client_ && client_ != current) client_.reset();
  client = client_;
  if (client_) return true;
  const bool is_asked_for = first_ && *first_ <= now;
  if (!is_asked_for && now < routine_at_) return true;
  if (!is_asked_for && (!current || is_idle())) {
    plan_routine(now);
    return true;
  }
  if (now > not_before_ + quiet) between_.reset();
  client = client_ = current;
  after_.clear();
  took_ = std::chrono::nanoseconds{0};
  asked_before_ = asked();
  if (is_asked_for) first_ = last_ > now && current ? std::optional{last_} : std::nullopt;
  return true;
}

void reconciliation::read_page(store::lock_verbs& session, const std::shared_ptr<lease>& client) {
  std::string identity;
  std::string after;
  {
    const model::annotated_lock lock{mutex_};
    identity = identity_;
    after = after_;
  }
  if (!identity.empty() && session.read_database_state().identity != identity) {
    throw error(errc::contention, "a connection still leads to another server than the lease's");
  }
  const auto page = session.read_held(client->id(), after, page_size);
  std::vector<store::held_entry> unknown;
  std::copy_if(page.entries.begin(), page.entries.end(), std::back_inserter(unknown),
               [this](const auto& entry) { return is_unknown(entry); });
  if (!unknown.empty()) give_back(session, client, unknown);
  const model::annotated_lock lock{mutex_};
  if (page.next) {
    after_ = *page.next;
    took_ += environment_.time.now() - begun_at_;
    return;
  }
  client_.reset();
  const auto now = environment_.time.now();
  took_ += now - begun_at_;
  not_before_ = now + between_.next();
  if (routine_at_ != instant::max()) plan_routine(now);
  if (!repeat_in_) return;
  const auto again = now + *repeat_in_;
  first_ = std::min(first_.value_or(again), again);
  last_ = std::max(last_, again);
  *repeat_in_ *= repeat_factor;
  if (*repeat_in_ > routine) repeat_in_.reset();
}

// The order matters: an id that was in ids() for a request at the first look may be a hold's at the next, and
// that hold's id may be in ids() for a release at the last; see the class.
bool reconciliation::is_unknown(const store::held_entry& entry) const {
  return !rests(entry) && !queue_.ids().contains(entry.hold) && !holds_.contains(entry.hold) &&
         !queue_.ids().contains(entry.hold);
}

// Reads the entries again first, because most have been released since.
void reconciliation::give_back(store::lock_verbs& session, const std::shared_ptr<lease>& client,
                               const std::vector<store::held_entry>& unknown) {
  std::vector<store::hold_query> queries;
  for (const auto& entry : unknown) queries.push_back({entry.name, entry.hold});
  const auto found = session.find(queries);
  std::vector<release_ptr> releases;
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    const auto& entry = unknown[i];
    if (found[i].lease != entry.lease || !is_unknown(entry)) continue;
    auto release = std::make_shared<release_operation>();
    release->name = entry.name;
    release->hold = entry.hold;
    release->lease =
        entry.lease == client->id() ? client : std::make_shared<lease>(entry.lease, 0ms, false, client->id());
    release->how = store::durability::durable;
    release->is_orphan = release->only_on_lease = true;
    releases.push_back(std::move(release));
  }
  queue_.submit(releases);
}

void reconciliation::after_step(std::uint64_t number) noexcept {
  const auto now = environment_.time.now();
  model::annotated_lock lock{mutex_};
  if (number != sent_) return;
  runs_ = false;
  due_.reset();
  const auto next = following(now);
  lock.unlock();
  if (next) send(*next);
}

std::optional<reconciliation::next_step> reconciliation::following(instant now) {
  if (!succeeded_) return plan(failing_.next());
  failing_.reset();
  if (client_) return plan(std::clamp(now - begun_at_, shortest_pause, longest_pause));
  if (const auto next = next_reading(); next != instant::max()) return plan(next - now);
  return {};
}

}  // namespace rowlock::client_layer
