// A lease as its owner sees it. Only its local deadline proves that a hold is alive (I5). The deadline is the clock
// reading from before the last confirmed renewal, or the creation, was sent, plus the ttl, minus the margin.
#pragma once

#include "client/time_source.hpp"
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

  instant deadline() const noexcept { return instant{std::chrono::nanoseconds{deadline_.load()}}; }
  bool is_valid(instant now) const noexcept { return now < deadline(); }

  // The database has confirmed the lease in its answer to a statement that was sent then: the deadline is one
  // ttl later, minus the margin. Death is final: once ended, the deadline never moves again.
  void confirm(instant sent_at, std::chrono::nanoseconds margin) noexcept {
    const auto deadline = (sent_at + ttl_ - margin).time_since_epoch().count();
    confirmed_at_.store(sent_at.time_since_epoch().count());
    auto before = deadline_.load();
    while (before != ended && !deadline_.compare_exchange_weak(before, deadline)) {
    }
  }
  // When the latest confirmed statement was sent.
  instant confirmed_at() const noexcept { return instant{std::chrono::nanoseconds{confirmed_at_.load()}}; }
  // Ends the lease, and returns the deadline that it had.
  instant end() noexcept { return instant{std::chrono::nanoseconds{deadline_.exchange(ended)}}; }
  bool is_ended() const noexcept { return deadline_.load() == ended; }

 private:
  static constexpr std::int64_t ended = -1;

  model::lease_id id_;
  model::lease_id client_;
  std::chrono::milliseconds ttl_;
  bool renewed_;
  std::atomic<std::int64_t> deadline_{0};
  std::atomic<std::int64_t> confirmed_at_{0};
};

}  // namespace rowlock::client_layer
