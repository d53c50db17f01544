#include "client/keeper/waiter_poll.hpp"

#include <algorithm>
#include <vector>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// How many waiters one statement asks about.
constexpr std::size_t chunk = 1000;
// One refusal may come from a migration that is under way.
constexpr int refusals_at_most = 3;

}  // namespace

waiter_poll::waiter_poll(client_environment& environment, submission_queue& queue, waiter_registry& waiters,
                         request_settler& settler, hold_registry& holds, keeper_agenda& agenda,
                         session_slot& slot)
    : environment_(environment),
      queue_(queue),
      waiters_(waiters),
      settler_(settler),
      holds_(holds),
      agenda_(agenda),
      slot_(slot) {}

instant waiter_poll::next() const {
  if (asked_ < to_ask_.size() || !barriers_.empty()) return {};
  return agenda_.next_look();
}

// A look that is planned for later stays planned. Otherwise each waiter that comes and goes would wake this
// thread to plan it again.
void waiter_poll::look() {
  const auto now = environment_.time.now();
  if (asked_ == to_ask_.size()) {
    const bool is_due = agenda_.next_look() <= now;
    if (!is_due && !barriers_.empty()) return ask_barrier(now);
    // The order matters: a waiter that enters the registry after this plans a look itself.
    if (is_due) agenda_.begin_look();
    try {
      to_ask_ = waiters_.queries();
    } catch (...) {
      agenda_.plan_look(now);  // without memory the look is still due
      throw;
    }
    asked_ = 0;
    sent_.clear();
    if (to_ask_.empty()) return barriers_.clear();
    agenda_.plan_look(now + environment_.settings.poll_interval);
    if (poll_at_ != instant::max()) poll_at_ = now + poll_pause_.next();  // this look does more than a poll
  }
  const auto part = std::span{to_ask_}.subspan(asked_, std::min(chunk, to_ask_.size() - asked_));
  look_at(part, now);
  asked_ += part.size();
  if (asked_ == to_ask_.size() && barriers_.empty()) refusals_ = 0;
}

void waiter_poll::look_at_named() {
  const auto waiters = agenda_.named(chunk);
  sent_.clear();
  look_at(waiters_.queries(waiters), environment_.time.now());
  agenda_.drop_named(waiters.size());
}

void waiter_poll::look_at(std::span<const store::hold_query> waiters, instant now) {
  if (waiters.empty()) return;
  const auto check_count = holds_.check_count();
  const auto replies = slot_.call([&](store::lock_verbs& session) {
    auto found = session.find(waiters);
    const auto granted =
        std::ranges::find(found, store::hold_status::where::held, &store::hold_status::state);
    if (granted != found.end() && granted->lease) session.make_durable(*granted->lease);
    return found;
  });
  bool some_wait = false;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    const store::hold_status& status = replies[i];
    const auto& [name, hold] = waiters[i];
    switch (status.state) {
      case store::hold_status::where::held:
        if (auto operation = waiters_.take(hold)) {
          settler_.deliver(std::move(operation), status.token, status.has_queue, check_count);
        }
        break;
      case store::hold_status::where::absent:
        if (auto operation = waiters_.take(hold)) queue_.submit_again(std::move(operation));
        break;
      case store::hold_status::where::queued:
        if (const auto takeover_in = due_in(status)) {
          some_wait = true;
          wait_or_ask(name, hold, *takeover_in, now);
        } else {
          barriers_[name].insert(hold);
        }
        break;
    }
  }
  if (!some_wait) return;
  if (const auto takeover = waiters_.next_takeover()) agenda_.plan_look(*takeover);
}

void waiter_poll::wait_or_ask(const std::string& name, model::hold_id hold,
                              std::chrono::microseconds takeover_in, instant now) {
  if (takeover_in > 0us) return waiters_.set_takeover(hold, now + takeover_in);
  if (!sent_.insert(name).second)
    return waiters_.set_takeover(hold, now + environment_.settings.poll_interval);
  if (auto operation = waiters_.take_if_due(hold, now)) queue_.submit_again(std::move(operation));
}

// How long until a death may change what a waiter waits for. At a latch no death does, but an open one may have left
// the waiter in its queue; at a barrier, the death of any waiting member does.
std::optional<std::chrono::microseconds> waiter_poll::due_in(const store::hold_status& status) const {
  // An unfair lock may be free, or have room, although nobody has looked for its waiters.
  if (!status.fair && status.in_use < status.capacity) return 0us;
  if (!is_rendezvous(status.kind))
    return store::takeover_after(status.takeover_in.value_or(0us), environment_.skew());
  if (status.kind == model::lock_kind::latch) return status.in_use < status.capacity ? 1h : 0us;
  return {};
}

void waiter_poll::ask_barrier(instant now) {
  const auto& [name, members] = *barriers_.begin();
  std::chrono::microseconds due = 1h;
  for (const auto& member :
       slot_.call([&of = name](store::admin_verbs& session) { return session.queue(of); })) {
    // expires_in is in whole milliseconds, rounded down.
    const auto ends_in = member.alive ? member.expires_in + environment_.skew() + 1ms : 0ms;
    due = std::min<std::chrono::microseconds>(due, ends_in);
  }
  sent_.erase(name);
  for (const auto& hold : members) wait_or_ask(name, hold, due, now);
  barriers_.erase(barriers_.begin());
  if (barriers_.empty()) refusals_ = 0;
  if (const auto takeover = waiters_.next_takeover()) agenda_.plan_look(*takeover);
}

instant waiter_poll::next_poll() {
  // The order matters: a waiter that enters the registry after this look wakes the keeper, which then polls.
  agenda_.set_silent(true);
  if (waiters_.empty()) return poll_at_ = instant::max();
  agenda_.set_silent(false);
  if (poll_at_ == instant::max()) {
    poll_pause_.reset();
    poll_at_ = environment_.time.now() + poll_pause_.next();
  }
  return poll_at_;
}

store::wakeup_poll waiter_poll::poll_wakeups() {
  poll_at_ = environment_.time.now() + poll_pause_.next();
  const auto told = slot_.call([](store::wakeup_verbs& session) { return session.poll_wakeups(); });
  if (told == store::wakeup_poll::some) poll_pause_.reset();
  return told;
}

void waiter_poll::refused(const std::exception_ptr& why) {
  if (++refusals_ >= refusals_at_most) fail_all(why);
}

void waiter_poll::fail_all(const std::exception_ptr& why) {
  refusals_ = 0;
  to_ask_.clear();
  asked_ = 0;
  barriers_.clear();
  for (auto left = waiters_.take_all(); !left.empty();) {
    const auto operation = left.pop();
    operation->answer.fail(why);
    queue_.withdraw(*operation);
  }
}

}  // namespace rowlock::client_layer
