#include "client/worker/edit_task.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>
#include <vector>

namespace rowlock::client_layer {

void edit_for(std::span<const std::shared_ptr<task_operation>> tasks, worker_services& client,
              session_slot& slot) {
  std::vector<edit_task*> by_name;
  for (const auto& task : tasks) by_name.push_back(static_cast<edit_task*>(task.get()));
  std::ranges::sort(by_name, {}, &task_operation::edits);
  const auto lease = client.queue.lease();
  edit_round edit{client, by_name.size()};
  for (const auto* task : by_name) {
    edit.add({.name = task->edits,
              .about = task->about.hold,
              .own = lease ? lease->id() : lease_id{},
              .needs_data = task->about.needs_data,
              .why = task->about.why});
  }
  // The caller of a task may have given up since the task was taken. Its decision is not made any more: the caller
  // may have gone on, and this edit could undo what it has done since. Under the row's lock the order is certain.
  const auto decide = [&](std::size_t i, const store::lock_view& view, auto) {
    if (!by_name[i]->answer.is_complete()) return by_name[i]->decide(view);
    decision nothing;
    nothing.outcome.result = outcome::what::absent;
    return nothing;
  };
  slot.call([&](store::lock_verbs& session) { edit.decide_each(session, decide); });
  std::exception_ptr failed;
  try {
    edit.follow_up([&](const auto& work) { slot.call(work); }, [](auto, auto&) {});
  } catch (const error&) {
    failed = std::current_exception();
  } catch (const std::bad_alloc&) {
    // The remaining steps are left out, as edit_round::follow_up(session) says.
  }
  auto replies = edit.take_replies();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    by_name[i]->reply = std::move(replies[i]);
    if (by_name[i]->reply.state != edit_state::settled) by_name[i]->failure = failed;
  }
}

}  // namespace rowlock::client_layer
