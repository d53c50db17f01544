// The client's counters, as atomics.
#pragma once

#include <rowlock/client.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rowlock::client_layer {

// A duration_histogram. Thread-safe.
class duration_counts {
 public:
  void add(std::chrono::nanoseconds length) noexcept {
    const auto& bounds = duration_histogram::bounds;
    const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), length) - bounds.begin();
    buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(std::chrono::round<std::chrono::microseconds>(length).count(), std::memory_order_relaxed);
  }
  duration_histogram read() const noexcept {
    duration_histogram all;
    std::ranges::transform(buckets_, all.buckets.begin(), [](const auto& one) { return one.load(); });
    all.sum = std::chrono::microseconds{sum_.load()};
    return all;
  }

 private:
  std::array<std::atomic<std::uint64_t>, duration_histogram::bounds.size() + 1> buckets_{};
  std::atomic<std::int64_t> sum_{0};  // in microseconds: nanoseconds would overflow
};

struct counters {
  std::atomic<std::uint64_t> acquired{0}, released{0}, busy{0}, waits{0}, release_requests{0}, hand_overs{0},
      renewals{0}, late_renewals{0}, reconnects{0}, statements{0};
  duration_counts waited;
  duration_counts held;

  // How many holds were lost for that reason. none: a release found that the database no longer had the hold.
  std::atomic<std::uint64_t>& lost(loss reason) noexcept { return lost_[static_cast<std::size_t>(reason)]; }

  statistics read() const {
    const auto lost_by = [&](loss reason) { return lost_[static_cast<std::size_t>(reason)].load(); };
    statistics all;
    all.acquired = acquired.load();
    all.released = released.load();
    all.busy = busy.load();
    all.waits = waits.load();
    all.lost_expired = lost_by(loss::expired);
    all.lost_forced = lost_by(loss::forced);
    all.lost_gone = lost_by(loss::gone);
    all.lost_closed = lost_by(loss::closed);
    all.lost = lost_by(loss::none) + all.lost_expired + all.lost_forced + all.lost_gone + all.lost_closed;
    all.release_requests = release_requests.load();
    all.hand_overs = hand_overs.load();
    all.renewals = renewals.load();
    all.late_renewals = late_renewals.load();
    all.reconnects = reconnects.load();
    all.statements = statements.load();
    all.waited = waited.read();
    all.held = held.read();
    return all;
  }

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(loss::closed) + 1> lost_{};
};

}  // namespace rowlock::client_layer
