#include "client/background_sweep.hpp"

#include <algorithm>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t part = 100;
// What was submitted is carried out meanwhile, and the next look finds others. Doubled while it does not: the
// rows may be guarded.
constexpr auto pause_between_parts = 100ms;
constexpr int stalls_at_most = 6;

}  // namespace

void background_sweep::plan_first(instant now) {
  if (next_ == instant::max() && shared_.settings.sweep_interval > 0ms) {
    next_ = now + shared_.settings.sweep_interval;
  }
}

void background_sweep::step() {
  const std::chrono::microseconds skew = shared_.settings.skew;
  const auto world = slot_.call([](store::session& session) { return session.read_world(); });
  // Leases are judged by this server's clock only once they have been lengthened for it (I5).
  if (world.identity != world.recorded_identity) {
    slot_.call([](store::session& session) { return session.refresh_world(); });
  }
  const auto found = slot_.call([&](store::session& session) { return session.find_stale(part, skew); });
  std::size_t killed = 0;
  if (!found.expired_leases.empty()) {
    killed =
        slot_.call([&](store::session& session) { return session.kill(found.expired_leases, skew); }).size();
  }
  bool is_news = false;
  for (const auto& name : found.names) {
    if (!submitted_.insert(name).second) continue;  // under way, or guarded
    is_news = true;
    queue_.submit(sweep_of(name));
  }
  const auto now = shared_.time.now();
  stalls_ = is_news || killed > 0 ? 0 : stalls_ + 1;
  if (killed == part) {
    next_ = now;
  } else if (killed > 0 || (found.names.size() == part && stalls_ < stalls_at_most)) {
    next_ = now + pause_between_parts * (1 << stalls_);
  } else {
    submitted_.clear();
    stalls_ = 0;
    next_ = now + shared_.settings.sweep_interval;
  }
}

}  // namespace rowlock::client_layer
