// A lease as its owner sees it. Only its local deadline proves that a hold is alive (I5). The deadline is the clock
// reading from before the last confirmed renewal, or the creation, was sent, plus the ttl, minus the margin.
#pragma once

#include "client/base/time_source.hpp"
#include "model/ids.hpp"

#include <atomic>
#include <chrono>

namespace rowlock::client_layer {

class lease {
 public:
  // client: the lease to which notices about its holds go: its own id, or, for an explicit-ttl lease, the id
  // of the process's lease when it was made.
  lease(model::lease_id id, std::chrono::milliseconds ttl, bool renewed, model::lease_id client)
      : id_(id), client_(client), ttl_(ttl), renewed_(renewed) {}

  model::lease_id id() const noexcept { return id_; }
  model::lease_id client() const noexcept { return client_; }
  std::chrono::milliseconds ttl() const noexcept { return ttl_; }
  bool is_renewed() const noexcept { return renewed_; }

  instant deadline() const noexcept { return deadline_in(deadline_.load()); }
  // The first answer `false` after a confirmation is final: whoever was told that a hold is over, for example by its
  // guard, must never see it valid again because the answer to a renewal came at that moment.
  bool is_valid(instant now) const noexcept {
    auto until = deadline_.load();
    while (until > 0) {
      if (now < deadline_in(until)) return true;
      if (deadline_.compare_exchange_weak(until, -until)) return false;
    }
    return false;
  }

  // The database has confirmed the lease in its answer to a statement that was sent at `sent_at`: the
  // deadline is one ttl later, minus the margin. Returns false, and leaves the deadline as it is, if the
  // lease was ended, or if is_valid() has said that it is over.
  bool confirm(instant sent_at, std::chrono::nanoseconds margin) noexcept {
    const auto deadline = (sent_at + ttl_ - margin).time_since_epoch().count();
    auto before = deadline_.load();
    do {
      if (before < 0) return false;
    } while (!deadline_.compare_exchange_weak(before, deadline));
    confirmed_at_.store(sent_at.time_since_epoch().count());
    return true;
  }
  // When the latest confirmed statement was sent.
  instant confirmed_at() const noexcept { return instant{std::chrono::nanoseconds{confirmed_at_.load()}}; }
  // Ends the lease, and returns the deadline that it had.
  instant end() noexcept { return deadline_in(deadline_.exchange(ended)); }
  bool is_ended() const noexcept { return deadline_.load() == ended; }

 private:
  static constexpr std::int64_t ended = -1;

  // The deadline that a value of deadline_ stands for. The value is negative once is_valid() has said that
  // the lease is over.
  static instant deadline_in(std::int64_t value) noexcept {
    return instant{std::chrono::nanoseconds{value == ended || value > 0 ? value : -value}};
  }

  model::lease_id id_;
  model::lease_id client_;
  std::chrono::milliseconds ttl_;
  bool renewed_;
  mutable std::atomic<std::int64_t> deadline_{0};  // 0: not confirmed yet
  std::atomic<std::int64_t> confirmed_at_{0};
};

}  // namespace rowlock::client_layer
