// A task that decides about one lock under its row. The tasks of several callers share an edit, and its commit, if their
// locks differ.
#pragma once

#include "client/connection/session_slot.hpp"
#include "client/core/operation.hpp"
#include "client/decision/decisions.hpp"
#include "client/worker/edit_round.hpp"
#include "client/worker/worker_services.hpp"

#include <functional>
#include <memory>
#include <span>

namespace rowlock::client_layer {

// Decides about a lock from what was read under its row.
using lock_decision = std::function<decision(const store::lock_view&)>;

// The hold that a decision is about, nil if it is about no single one. Most decisions do not need its data.
struct decision_subject {
  decision_subject() = default;
  decision_subject(model::hold_id about, bool with_data = false,  // NOLINT: the hold alone says it
                   intent what_for = intent::use)
      : hold{about}, needs_data{with_data}, why{what_for} {}

  model::hold_id hold;
  bool needs_data = false;  // lock_view::data
  intent why = intent::use;
};

struct edit_task final : task_operation {
  edit_task(std::string name, const decision_subject& asked, lock_decision decides)
      : about{asked}, decide{std::move(decides)} {
    edits = std::move(name);
  }

  const decision_subject about;
  const lock_decision decide;
  edit_reply reply{};  // once the task is answered
};

// Runs these tasks in one edit, and notes what became of each. Requires: each is an edit_task, and their names differ. If
// a step after the commit fails, the tasks that the commit has settled have succeeded, and each other one has `failure`.
// Throws what else the store throws; unless that has outcome_unknown(), nothing was done.
void edit_for(std::span<const std::shared_ptr<task_operation>> tasks, worker_services& client,
              session_slot& slot);

}  // namespace rowlock::client_layer
