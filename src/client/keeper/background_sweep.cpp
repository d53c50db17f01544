#include "client/keeper/background_sweep.hpp"

#include "client/core/history_lines.hpp"

#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// How many locks one step reads: few enough that no renewal waits for it. Wake-ups are received in the pause
// before the next step.
constexpr std::size_t page = 1000;
constexpr auto pause_between_pages = 5ms;
// If a pass has killed leases, another pass follows after this pause and finds what they held.
constexpr auto pause_between_passes = 100ms;

}  // namespace

void background_sweep::plan_first(instant now) {
  if (next_ == instant::max() && environment_.settings.sweep_interval) {
    next_ = now + *environment_.settings.sweep_interval;
  }
}

void background_sweep::step() {
  const std::chrono::microseconds skew = environment_.skew();
  const auto database_state =
      slot_.call([](store::lock_verbs& session) { return session.read_database_state(); });
  // This server's clock may judge leases only after they have been lengthened for it (I5).
  if (database_state.identity != database_state.recorded_identity) {
    slot_.call([](store::lock_verbs& session) { return session.record_database_state(); });
  }
  const auto found =
      slot_.call([&](store::lock_verbs& session) { return session.find_stale(page, skew, after_); });
  std::size_t killed = 0;
  if (!found.leases.empty()) {
    killed = slot_.call([&](store::lock_verbs& session) { return session.kill(found.leases, skew); }).size();
  }
  for (const auto& name : found.names) {
    // A name that this sweep has already submitted is under way, or guarded.
    auto sweep = sweep_of(name);
    if (submitted_.insert(name).second) queue_.submit(std::move(sweep));
  }
  const auto now = environment_.time.now();
  after_ = found.next;
  // After the first pass another one follows even if another client has killed the leases that were found:
  // perhaps nobody else looks for what they held.
  pass_again_ = pass_again_ || killed > 0 || (is_first_pass_ && !found.leases.empty());
  if (killed == page) {
    next_ = now;
  } else if (!after_.empty()) {
    next_ = now + pause_between_pages;
  } else if (std::exchange(pass_again_, false)) {
    is_first_pass_ = false;
    next_ = now + pause_between_passes;
  } else {
    is_first_pass_ = true;
    submitted_.clear();
    if (environment_.recorded.has_written())
      slot_.call([&](store::session& session) { prune_written(environment_, session); });
    next_ = now + *environment_.settings.sweep_interval;
  }
}

}  // namespace rowlock::client_layer
