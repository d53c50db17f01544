// Who owns a request that is under way. Exactly one part of the client does, and only the owner may change the
// request, or pass it on.
//
//   stage        | the owner
//   in_hand      | one thread: the caller's until it submits the request, the worker's whose batch the request is in, or
//                | the one that took it out of the queue or the registry
//   waiting_here | the submission queue, until a worker sends the request
//   queued_there | the waiter registry: the request stands in the database's queue
//
//   event      | in_hand      | waiting_here | queued_there
//   submitted  | waiting_here | -            | -             now, or to be sent after a pause
//   registered | queued_there | -            | -             as a waiter
//   taken      | -            | in_hand      | in_hand       into a batch, or to be settled
//
// A request that is settled belongs to nobody: its last owner drops it. Its caller may have a pointer to it at any
// time, but uses only its answer, which is thread-safe.
#pragma once

#include <rowlock/config.hpp>

#include <cassert>
#include <cstdint>
#include <optional>

namespace rowlock::client_layer {

// A value. Changed by the request's owner, which is the former one until a change is made.
class request_stage {
 public:
  enum class place : std::uint8_t { in_hand, waiting_here, queued_there };
  enum class event : std::uint8_t { submitted, registered, taken };

  // Empty: the event would give the request a second owner.
  static constexpr std::optional<place> after(place now, event what) {
    const bool in_hand = now == place::in_hand;
    if (in_hand == (what == event::taken)) return {};
    switch (what) {
      case event::submitted: return place::waiting_here;
      case event::registered: return place::queued_there;
      case event::taken: return place::in_hand;
    }
    return {};
  }

  place now() const noexcept { return now_; }

  // Each requires that the table has no "-" for the event, which builds with assertions check.
  void submitted() noexcept { pass(event::submitted); }
  void registered() noexcept { pass(event::registered); }
  void taken() noexcept { pass(event::taken); }

 private:
  void pass(event what) noexcept {
    const auto next = after(now_, what);
    assert(next && "a request would have two owners; see request_stage.hpp");
    now_ = next.value_or(now_);
  }

  place now_ = place::in_hand;
};

}  // namespace rowlock::client_layer
