// Runs everything that is asked of the database besides acquires and releases: a worker runs each task in its turn.
#pragma once

#include "client/core/operation.hpp"
#include "client/worker/edit_task.hpp"
#include "client/worker/worker_services.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace rowlock::client_layer {

// What ends a call earlier than client_environment::longest_call().
struct call_limit {
  std::optional<instant> until{};
  std::stop_token stop{};
};

// Thread-safe.
//
// Every call ends at its limit, even behind a busy worker: with error(unreachable) when the time has passed,
// error(cancelled) when stop was requested, and error(closed) when the client is closed. outcome_unknown()
// then says whether it may have taken effect.
class task_executor {
 public:
  // ready: called before each task. It throws when no task may be run.
  task_executor(worker_services& client, std::function<void()> ready)
      : client_(client), ready_(std::move(ready)) {}

  // Runs work with a worker's session, and waits for it. Not retried.
  void run(std::function<void(store::session&)> work, const call_limit& limit = {});
  // Returns what work returns. The result lives as long as the work, even if the caller gives up.
  template <class Work>
  auto result_of(Work work, const call_limit& limit = {}) {
    auto result = std::make_shared<std::invoke_result_t<Work, store::session&>>();
    run([result, work = std::move(work)](store::session& session) { *result = work(session); }, limit);
    return std::move(*result);
  }
  // The two halves of run(). await() returns false if it gave up. undo: see task_operation. on_complete:
  // called when the task is answered, for a caller that does not wait, as promise_state::on_complete says.
  // With a pause, the task runs after it, in the background, where it delays no release.
  task_ptr begin(std::function<void(store::session&)> work, std::function<void()> undo = {},
                 std::function<void()> on_complete = {}, std::chrono::nanoseconds pause = {});
  bool await(const task_ptr& task, std::optional<instant> until, const std::stop_token& stop = {});

  // Decides about a lock, or one hold of it, under its row; repeated until edit_state is settled or missing. If
  // the lock does not exist, the outcome is absent. Not retried when the connection breaks. Throws
  // error(contention) if the row stays locked for longer than a statement may take.
  outcome decide(const std::string& name, const decision_subject& about, const lock_decision& decide,
                 const call_limit& limit = {});
  // One round of decide(), which await() waits for. If outcome_of() is empty then, another round is needed.
  std::shared_ptr<edit_task> begin_decision(const std::string& name, const decision_subject& about,
                                            lock_decision decide);
  static std::optional<outcome> outcome_of(edit_task& round);
  // As decide(), but retried while the database cannot be reached, for as long as a call may take. Only for
  // decisions that may be made twice.
  outcome decide_with_retry(const std::string& name, const decision_subject& about,
                            const lock_decision& decide, const call_limit& limit = {});
  // As decide_with_retry(), but creates the lock if it is missing.
  outcome decide_or_create(const model::lock_definition& definition, const lock_decision& decide,
                           const call_limit& limit = {});

 private:
  instant end_of(std::chrono::nanoseconds longest, const call_limit& limit) const;
  void await_answer(const task_ptr& task, const call_limit& limit);
  void sleep(std::chrono::nanoseconds pause, const call_limit& limit, bool in_doubt);
  template <class Call>
  auto with_retry(const call_limit& limit, Call call);

  worker_services& client_;
  std::function<void()> ready_;
};

}  // namespace rowlock::client_layer
