#include "client/waiter_poll.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// How many waiters one statement asks about.
constexpr std::size_t chunk = 1000;
// One refusal may come from a migration that is under way.
constexpr int refusals_at_most = 3;

}  // namespace

waiter_poll::waiter_poll(context& shared, submission_queue& queue, waiter_registry& waiters,
                         completions& completions, hold_registry& holds, session_slot& slot)
    : context_(shared),
      queue_(queue),
      waiters_(waiters),
      completions_(completions),
      holds_(holds),
      slot_(slot),
      look_at_(instant::max().time_since_epoch().count()) {}

bool waiter_poll::plan(instant when) {
  auto planned = look_at_.load();
  const auto wished = when.time_since_epoch().count();
  while (wished < planned) {
    if (look_at_.compare_exchange_weak(planned, wished)) return true;
  }
  return false;
}

instant waiter_poll::next() const {
  return instant{std::chrono::nanoseconds{look_at_.load()}};
}

// A look that is planned for later stays planned. Otherwise each waiter that comes and goes would wake this
// thread to plan it again.
void waiter_poll::look() {
  const auto now = context_.time.now();
  if (next() <= now) look_at_.store(instant::max().time_since_epoch().count());
  // The order matters: a waiter that enters the registry after this plans a look itself.
  const auto queries = waiters_.queries();
  if (queries.empty()) return;
  plan(now + context_.settings.poll_interval);
  if (ask_at_ != instant::max()) ask_at_ = now + asking_.next();  // this look does more than a poll
  look_at(queries, now);
  refusals_ = 0;
}

void waiter_poll::look_up(std::span<const model::hold_id> waiters) {
  const model::annotated_lock lock{mutex_};
  named_.insert(named_.end(), waiters.begin(), waiters.end());
}

instant waiter_poll::named_due() const {
  const model::annotated_lock lock{mutex_};
  return named_.empty() ? instant::max() : instant{};
}

void waiter_poll::look_at_named() {
  std::vector<model::hold_id> waiters;
  {
    const model::annotated_lock lock{mutex_};
    waiters = named_;
  }
  look_at(waiters_.queries(waiters), context_.time.now());
  const model::annotated_lock lock{mutex_};
  named_.erase(named_.begin(), named_.begin() + static_cast<std::ptrdiff_t>(waiters.size()));
}

void waiter_poll::look_at(std::span<const store::hold_query> waiters, instant now) {
  bool some_wait = false;
  std::unordered_set<std::string> asked;  // one request per name is enough to have the dead removed
  barrier_dues of_barriers;
  const auto ask_again = [&](model::hold_id hold) {
    if (auto operation = waiters_.take(hold)) queue_.submit(std::move(operation));
  };
  for (std::size_t from = 0; from < waiters.size(); from += chunk) {
    const auto part = waiters.subspan(from, std::min(chunk, waiters.size() - from));
    const auto checks = holds_.checks();
    const auto replies = slot_.call([&](store::lock_verbs& session) {
      auto found = session.find(part);
      const auto granted =
          std::ranges::find(found, store::hold_status::where::held, &store::hold_status::state);
      if (granted != found.end() && granted->lease) session.make_durable(*granted->lease);
      return found;
    });
    for (std::size_t i = 0; i < part.size(); ++i) {
      const store::hold_status& status = replies[i];
      const auto& [name, hold] = part[i];
      switch (status.state) {
        case store::hold_status::where::held:
          if (const auto operation = waiters_.take(hold)) {
            operation->progress.granted(status.has_queue);
            operation->checks = checks;
            completions_.granted(operation, status.token);
          }
          break;
        case store::hold_status::where::absent: ask_again(hold); break;
        case store::hold_status::where::queued: {
          some_wait = true;
          const auto takeover_in = due_in(status, name, of_barriers);
          if (takeover_in > 0us) {
            waiters_.set_takeover(hold, now + takeover_in);
          } else if (asked.insert(name).second) {
            if (auto operation = waiters_.take_to_ask(hold, now)) queue_.submit(std::move(operation));
          } else {
            waiters_.set_takeover(hold, now + context_.settings.poll_interval);
          }
          break;
        }
      }
    }
  }
  if (!some_wait) return;
  if (const auto takeover = waiters_.next_takeover()) plan(*takeover);
}

// How long until a death may change what a waiter waits for. At a latch none does; at a barrier, the death of
// any waiting member.
std::chrono::microseconds waiter_poll::due_in(const store::hold_status& status, const std::string& name,
                                              barrier_dues& of_barriers) {
  // An unfair lock may be free, or have room, although nobody has looked for its waiters.
  if (!status.fair && status.in_use < status.capacity) return 0us;
  if (!is_rendezvous(status.kind))
    return store::takeover_after(status.takeover_in.value_or(0us), context_.skew());
  if (status.kind == model::lock_kind::latch) return 1h;
  const auto [due, is_new] = of_barriers.try_emplace(name, 1h);
  if (!is_new) return due->second;
  for (const auto& member : slot_.call([&](store::admin_verbs& session) { return session.queue(name); })) {
    // expires_in is in whole milliseconds, rounded down.
    const auto ends_in = member.alive ? member.expires_in + context_.skew() + 1ms : 0ms;
    due->second = std::min<std::chrono::microseconds>(due->second, ends_in);
  }
  return due->second;
}

instant waiter_poll::next_question() {
  // The order matters: a waiter that enters the registry after the question finds silent_ set, and ends the silence.
  silent_.store(true);
  if (waiters_.empty()) return ask_at_ = instant::max();
  silent_.store(false);
  if (ask_at_ == instant::max()) {
    asking_.reset();
    ask_at_ = context_.time.now() + asking_.next();
  }
  return ask_at_;
}

store::wakeup_poll waiter_poll::poll_wakeups() {
  ask_at_ = context_.time.now() + asking_.next();
  const auto told = slot_.call([](store::wakeup_verbs& session) { return session.poll_wakeups(); });
  if (told == store::wakeup_poll::some) asking_.reset();
  return told;
}

void waiter_poll::refused(const std::exception_ptr& why) {
  if (++refusals_ >= refusals_at_most) fail_all(why);
}

void waiter_poll::fail_all(const std::exception_ptr& why) {
  refusals_ = 0;
  for (const auto& operation : waiters_.take_all()) {
    operation->answer.fail(why);
    queue_.withdraw(*operation);
  }
}

}  // namespace rowlock::client_layer
