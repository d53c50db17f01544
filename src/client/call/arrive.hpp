// Arrival at a barrier.
#pragma once

#include "client/call/call.hpp"

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::client_layer {

// One member of one generation. When its time is up or its wait is stopped, the member leaves the barrier.
// The other members may have continued with it meanwhile, and only the database knows whether they have. So
// the caller then waits for the database's answer, for as long as a call may take. One caller uses an arrival
// at a time, except leave(), which any thread may call.
class arrival : public call {
 public:
  using result =
      std::optional<model::token>;  // the number of the complete generation. Empty: the member has left

  arrival(engine& on, const model::lock_definition& barrier, const wait_limit& how_long,
          std::stop_token stop);

  promised<hold_ptr>& answer() noexcept { return operation_->answer; }
  std::optional<instant> until() const noexcept;
  void submit() { on().services().queue.submit(operation_); }
  bool leave() noexcept;
  // The member leaves the barrier, and nobody waits for the database's answer. It holds nothing, so nothing
  // is released.
  bool drop() noexcept;
  // Throws error(cancelled) if the member has left and the wait had no limit.
  result result_of(const hold_ptr& answered) const;
  result without_answer() const;
  std::string described() const;

 private:
  void look_again() noexcept;

  const acquire_ptr operation_;
  const bool is_limited_;
  std::optional<instant> until_;
  // Until when a member that has left waits for the answer. max(): it has not left.
  std::atomic<instant> leaves_until_{instant::max()};
};

// Arrives, waits for the other members, and returns the number of the complete generation. Returns empty if
// the time passed or a limited wait was stopped; the generation is then broken, unless the wait was stopped
// before it began. Throws as barrier::arrive_and_wait does.
std::optional<model::token> arrive(engine& on, const model::lock_definition& barrier,
                                   const wait_limit& how_long, const std::stop_token& stop);

}  // namespace rowlock::client_layer
