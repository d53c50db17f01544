#include "client/worker/task_executor.hpp"

#include "client/base/backoff.hpp"
#include "client/base/errors.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

error stopped(bool in_doubt) {
  return {errc::cancelled,
          in_doubt ? "the call was stopped; whether it took effect is unknown" : "the call was stopped",
          {},
          in_doubt};
}

}  // namespace

task_ptr task_executor::begin(std::function<void(store::session&)> work, std::function<void()> undo,
                              std::function<void()> on_complete, std::chrono::nanoseconds pause) {
  ready_();
  auto task = std::make_shared<task_operation>();
  task->work = std::move(work);
  task->undo = std::move(undo);
  if (on_complete) task->answer.on_complete(std::move(on_complete));
  if (pause > std::chrono::nanoseconds{0}) {
    client_.queue.submit_background(task, pause);
  } else {
    client_.queue.submit(task);
  }
  return task;
}

bool task_executor::await(const task_ptr& task, std::optional<instant> until, const std::stop_token& stop) {
  return task->answer.wait(client_.environment.time, until, stop).has_value();
}

instant task_executor::end_of(std::chrono::nanoseconds longest, const call_limit& limit) const {
  const auto end = client_.environment.time.now() + longest;
  return limit.until ? std::min(end, *limit.until) : end;
}

void task_executor::await_answer(const task_ptr& task, const call_limit& limit) {
  if (await(task, end_of(client_.environment.longest_call(), limit), limit.stop)) return;
  if (limit.stop.stop_requested()) throw stopped(true);
  throw error(errc::unreachable,
              "the database did not answer in time; whether the call took effect is unknown", {}, true);
}

// Pauses before the next try. Throws if the call was stopped, or the client is closed.
void task_executor::sleep(std::chrono::nanoseconds pause, const call_limit& limit, bool in_doubt) {
  if (client_.environment.pauses.sleep_until(end_of(pause, limit), limit.stop)) return;
  if (limit.stop.stop_requested()) throw stopped(in_doubt);
  const auto closed = closed_client();
  throw error(closed.kind(), closed.what(), {}, in_doubt);
}

void task_executor::run(std::function<void(store::session&)> work, const call_limit& limit) {
  await_answer(begin(std::move(work)), limit);
}

std::shared_ptr<edit_task> task_executor::begin_decision(const std::string& name,
                                                         const decision_subject& about,
                                                         lock_decision decide) {
  ready_();
  auto task = std::make_shared<edit_task>(name, about, std::move(decide));
  client_.queue.submit(task);
  return task;
}

std::optional<outcome> task_executor::outcome_of(edit_task& round) {
  switch (round.reply.state) {
    case edit_state::again:
    case edit_state::locked: return {};
    case edit_state::missing: round.reply.made.outcome.result = outcome::what::absent; break;
    case edit_state::settled: break;
  }
  return std::move(round.reply.made.outcome);
}

outcome task_executor::decide(const std::string& name, const decision_subject& about,
                              const lock_decision& decide, const call_limit& limit) {
  const auto until = end_of(client_.environment.settings.statement_timeout, limit);
  auto pause = row_probe();
  for (;;) {
    const auto round = begin_decision(name, about, decide);
    await_answer(round, limit);
    if (auto settled = outcome_of(*round)) return std::move(*settled);
    if (client_.environment.time.now() >= until) {
      throw error(errc::contention, "the row of \"" + name +
                                        "\" is locked by a guarded transaction, or by a client that hangs; "
                                        "try again when it has ended");
    }
    sleep(pause.next(), {until, limit.stop}, false);
  }
}

// Retries while the database cannot be reached. If an earlier try is in doubt, the outcome is, too.
template <class Call>
auto task_executor::with_retry(const call_limit& limit, Call call) {
  const call_limit whole{end_of(client_.environment.longest_call(), limit), limit.stop};
  auto pause = reconnect_pause();
  bool in_doubt = false;
  for (;;) {
    std::chrono::nanoseconds next{};
    try {
      return call(whole);
    } catch (const error& failure) {
      in_doubt = in_doubt || failure.outcome_unknown();
      next = pause.next();
      if (!failure.transient() || client_.environment.time.now() + next >= *whole.until) {
        throw copy_of(failure, in_doubt);
      }
    }
    sleep(next, whole, in_doubt);
  }
}

outcome task_executor::decide_with_retry(const std::string& name, const decision_subject& about,
                                         const lock_decision& decide, const call_limit& limit) {
  return with_retry(limit, [&](const call_limit& whole) { return this->decide(name, about, decide, whole); });
}

outcome task_executor::decide_or_create(const model::lock_definition& definition, const lock_decision& decide,
                                        const call_limit& limit) {
  return with_retry(limit, [&](const call_limit& whole) {
    for (;;) {
      auto settled = this->decide(definition.name, {}, decide, whole);
      if (settled.result != outcome::what::absent) return settled;
      run([definition](store::lock_verbs& session) { session.create({&definition, 1}); }, whole);
    }
  });
}

}  // namespace rowlock::client_layer
