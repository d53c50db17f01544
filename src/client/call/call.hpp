// What a program asks a client for, and how it gets the answer: its thread waits with wait(), or an executor goes on
// (async_call.hpp).
#pragma once

#include "client/engine.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

namespace rowlock::client_layer {

// How long an acquire may wait: for ever, not at all, or up to a limit.
struct wait_limit {
  bool waits = true;
  std::optional<std::chrono::nanoseconds> limit{};
  bool was_answered = false;                        // the database has answered an earlier part of the call
  std::optional<std::chrono::nanoseconds> whole{};  // the limit of the call, if `limit` is what is left of it

  // When the time of a call that begins at that time is up. Empty: never. A call that does not wait for a lock waits
  // for the database all the same.
  std::optional<instant> until(const client_environment& environment, instant begun) const;
  // What the caller is thrown if the database answers nothing until the limit is over. Null: there is no limit, it
  // is so short that the silence says nothing about the database, or the database has answered before.
  std::exception_ptr reason_of_silence() const;
  // For a call that got no answer: returns if its result is empty, otherwise throws the reason. last_failure: as
  // promise_state::last_failure().
  void check_without_answer(const client_environment& environment, const std::stop_token& stop,
                            const std::optional<error>& last_failure) const;
};

// One call: an acquire_call, a joint_call, an arrival or a release_call. Only its owner, see the table below,
// refers to a call: the client's threads have the call's operation and its answer. Each kind has
//
//   result             the type of what its caller gets
//   a constructor      checks, and makes everything that it needs; sends nothing
//   submit()           sends it. Call it once
//   answer()           the promise that the client's threads complete
//   until()            when its time is up. Empty: never
//   leave()            ends the wait because its time is up or it was stopped. Returns true if no answer will
//                      come; false if there is an answer, or one will come before until()
//   drop()             gives up the answer, whether there is one or not. Returns true if there was none
//   result_of(answer)  makes the caller's result of an answer; may throw
//   without_answer()   makes the caller's result if there is no answer; may throw
//   described()        names the call for the log
//
//   state   | who owns the call              | event                         | next state
//   made    | whoever made it                | submit()                      | sent
//           |                                | a stop before submit()        | left
//   sent    | the frame of the thread that   | the answer, or a failure      | settled
//           | waits, or async_waiters        | the client is closed, if an   | settled, with error(closed)
//           |                                | executor is to be called      |
//           |                                | leave()                       | left; an arrival: sent, with
//           |                                |                               | a new until()
//           |                                | drop()                        | left
//   settled | the same frame, or the         | result_of()                   | over
//           | function that the executor has | drop()                        | over: a hold that was granted
//           |                                |                               | is released
//   left    | as settled                     | without_answer()              | over
//
// What is granted to a call that was left is released by the thread that learns of the grant.
class call {
 public:
  engine& on() const noexcept { return *engine_; }
  const std::stop_token& stop() const noexcept { return stop_; }
  void settled() noexcept {}  // called once there is an answer, before the caller gets it

 protected:
  explicit call(engine& on, std::stop_token stop = {}) : engine_(&on), stop_(std::move(stop)) {}
  ~call() = default;

 private:
  engine* engine_;
  std::stop_token stop_;
};

// Waits, on the calling thread, for the result of a call that was submitted. Returns empty if the call was
// left.
template <class Call>
std::optional<typename Call::result> wait_until(Call& made, std::optional<instant> until,
                                                const std::stop_token& stop) {
  auto& time = made.on().environment().time;
  auto answer = made.answer().wait_a_while(time, until, stop);
  while (!answer) {
    if (made.leave()) return {};
    answer = made.answer().wait_a_while(time, made.until(), {});
  }
  made.settled();
  return made.result_of(*std::move(answer));
}

// Waits, on the calling thread, for as long as the call may wait, and returns the call's result even if the
// call was left. looks_for_deadlocks: also throws error(deadlock).
template <class Call>
typename Call::result wait(Call& made, bool looks_for_deadlocks = false) {
  if (looks_for_deadlocks) {
    try {
      const auto owner = model::hold_id::owner_of_this_thread();
      auto answer = made.on().deadlocks().wait(made.answer(), owner, made.until(), made.stop());
      if (answer) {
        made.settled();
        return made.result_of(*std::move(answer));
      }
    } catch (...) {
      made.drop();
      throw;
    }
  }
  if (auto result = wait_until(made, made.until(), made.stop())) return *std::move(result);
  return made.without_answer();
}

}  // namespace rowlock::client_layer
