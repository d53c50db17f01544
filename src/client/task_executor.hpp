// What is asked of the database besides acquires and releases: a task is run by a worker, in its turn.
#pragma once

#include "client/decisions.hpp"
#include "client/operation.hpp"
#include "client/worker_context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::client_layer {

// What is decided about a lock, from what its row says.
using lock_decision = std::function<decision(const store::lock_view&)>;

// What ends a call besides the longest time that one may take.
struct call_limit {
  std::optional<instant> until{};
  std::stop_token stop{};
};

// Thread-safe. Of one engine.
//
// Every call ends with its limit, also behind a worker that is busy: with error(unreachable) when the time is
// up before an answer came, with error(cancelled) when stop was requested. outcome_unknown() then says
// whether it may have happened.
class task_executor {
 public:
  // ready: called before anything is asked. Throws when nothing may be.
  task_executor(worker_context& client, std::function<void()> ready)
      : client_(client), ready_(std::move(ready)) {}

  // Runs work with a carrying connection's session, and waits for it. Not retried.
  void run(std::function<void(store::session&)> work, const call_limit& limit = {});
  // Its halves. await(): false when it was given up.
  task_ptr begin(std::function<void(store::session&)> work, std::function<void()> undo = {});
  bool await(const task_ptr& task, std::optional<instant> until, const std::stop_token& stop = {});

  // Decides about a lock, or a hold of it, under its row, until that is settled: not expired, foreign, again
  // or guarded. A lock that does not exist has nothing (absent). Not retried when the connection breaks.
  // Throws error(contention) when a guarded transaction, or anybody, keeps the row for longer than a
  // statement may take.
  outcome decide(const std::string& name, model::hold_id about, const lock_decision& decide,
                 const call_limit& limit = {});
  // One round of it, whose task is to be awaited. The outcome then: empty when it is not settled yet.
  struct pending_decision;
  pending_decision begin_decision(const std::string& name, model::hold_id about, lock_decision decide);
  static std::optional<outcome> outcome_of(const pending_decision& round);
  // The same again while the database cannot be reached, as long as one call may take: for what may be
  // decided twice.
  outcome decide_with_retry(const std::string& name, model::hold_id about, const lock_decision& decide,
                            const call_limit& limit = {});
  // The same for a lock that is made where it is missing.
  outcome decide_or_create(const model::lock_definition& definition, const lock_decision& decide,
                           const call_limit& limit = {});

 private:
  instant end_of(std::chrono::nanoseconds longest, const call_limit& limit) const;
  void await_answer(const task_ptr& task, const call_limit& limit);
  void sleep(std::chrono::nanoseconds pause, const call_limit& limit, bool in_doubt);
  template <class Call>
  auto with_retry(const call_limit& limit, Call call);

  worker_context& client_;
  std::function<void()> ready_;
};

struct task_executor::pending_decision {
  struct attempt;
  task_ptr task;
  std::shared_ptr<attempt> made;  // kept until the task is done: the caller may have given up
};

}  // namespace rowlock::client_layer
