#include "client/task_desk.hpp"

#include "client/backoff.hpp"
#include "client/chores.hpp"

#include <thread>
#include <utility>

namespace rowlock::client_layer {

task_ptr task_desk::begin(std::function<void(store::session&)> work, std::function<void()> undo) {
  ready_();
  auto task = std::make_shared<task_operation>();
  task->work = std::move(work);
  task->undo = std::move(undo);
  desk_.queue.submit(task);
  return task;
}

bool task_desk::await(const task_ptr& task, std::optional<instant> until, const std::stop_token& stop) {
  return task->answer.wait(desk_.shared.time, until, stop).has_value();
}

void task_desk::await_answer(const task_ptr& task) {
  if (await(task, desk_.shared.time.now() + desk_.shared.longest_call())) return;
  throw error(errc::unreachable, "the database gave no answer in time; whether it happened is unknown", {},
              true);
}

void task_desk::perform(std::function<void(store::session&)> work) {
  await_answer(begin(std::move(work)));
}

struct task_desk::settling::attempt {
  store::edit_result result = store::edit_result::skipped;
  decision made;
};

task_desk::settling task_desk::begin_settle(const std::string& name, model::hold_id about,
                                            lock_decision decide) {
  const auto round = std::make_shared<settling::attempt>();
  const auto task = begin([this, round, name, about, decide = std::move(decide)](store::session& session) {
    const store::edit_request request{name, about, [&](const store::lock_view& view) {
                                        round->made = decide(view);
                                        return round->made.change;
                                      }};
    round->result = session.edit({&request, 1}).front();
    if (round->result != store::edit_result::committed) return;
    chores todo;
    todo.add(desk_, name, round->made);
    todo.run(desk_.shared, [&](auto work) { return work(session); });
  });
  return {task, round};
}

std::optional<outcome> task_desk::outcome_of(const settling& round) {
  auto& decided = round.made->made.outcome;
  if (round.made->result == store::edit_result::missing) decided.result = outcome::what::absent;
  if (round.made->result == store::edit_result::skipped) return {};
  if (decided.asks_again() || decided.result == outcome::what::guarded) return {};
  return decided;
}

outcome task_desk::settle(const std::string& name, model::hold_id about, const lock_decision& decide) {
  const auto until = desk_.shared.time.now() + desk_.shared.settings.statement_timeout;
  auto pause = row_probe();
  for (;;) {
    const auto round = begin_settle(name, about, decide);
    await_answer(round.task);
    if (auto settled = outcome_of(round)) return std::move(*settled);
    if (desk_.shared.time.now() >= until) {
      throw error(errc::contention, "the row of \"" + name +
                                        "\" is kept by a guarded transaction, or by a client that hangs; ask "
                                        "again when that has ended");
    }
    std::this_thread::sleep_for(pause.next());
  }
}

// Again while the database cannot be reached. A doubt of an earlier try stays one.
template <class Call>
auto task_desk::surely(Call call) {
  const auto until = desk_.shared.time.now() + desk_.shared.longest_call();
  auto pause = reconnect_pause();
  bool in_doubt = false;
  for (;;) {
    try {
      return call();
    } catch (const error& failure) {
      in_doubt = in_doubt || failure.outcome_unknown();
      if (!failure.transient() || desk_.shared.time.now() >= until) {
        throw error(failure.code(), failure.what(), failure.database_code(), in_doubt);
      }
    }
    std::this_thread::sleep_for(pause.next());
  }
}

outcome task_desk::settle_again(const std::string& name, model::hold_id about, const lock_decision& decide) {
  return surely([&] { return settle(name, about, decide); });
}

outcome task_desk::settle_surely(const model::lock_definition& definition, const lock_decision& decide) {
  return surely([&] {
    for (;;) {
      auto settled = settle(definition.name, {}, decide);
      if (settled.result != outcome::what::absent) return settled;
      perform([definition](store::session& session) { session.create({&definition, 1}); });
    }
  });
}

}  // namespace rowlock::client_layer
