// Arrival at a barrier.
#pragma once

#include "client/engine.hpp"

#include <optional>
#include <stop_token>

namespace rowlock::client_layer {

// One member of one generation, for a caller with or without a thread.
class arrival {
 public:
  // Sends nothing.
  arrival(engine& on, const model::lock_definition& barrier, const wait_limit& how_long);

  promised<hold_ptr>& answer() noexcept { return operation_->answer; }
  std::optional<instant> until() const noexcept { return until_; }  // when the time is up

  void submit();
  // The caller gives up. The other members may have continued with this one meanwhile; only the database can
  // say so. Returns until when the caller should wait for its answer.
  instant leave() noexcept;
  // The same for a caller that does not wait for the answer. False: there was an answer before.
  bool detach() noexcept;

  // The number of the complete generation. If the answer is null, the member has left or never arrived:
  // returns empty, or throws error(cancelled) if the wait had no limit.
  std::optional<model::token> result(const hold_ptr& answered) const;
  error unknown() const;  // without an answer after leave()

 private:
  void look_again() noexcept;

  engine& engine_;
  const acquire_ptr operation_;
  const bool is_limited_;
  std::optional<instant> until_;
};

// Arrives, waits for the other members, and returns the number of the complete generation. Empty: the time passed or a
// limited wait was stopped; the generation is then broken. Throws as barrier::arrive_and_wait does.
std::optional<model::token> arrive(engine& on, const model::lock_definition& barrier,
                                   const wait_limit& how_long, const std::stop_token& stop);

}  // namespace rowlock::client_layer
