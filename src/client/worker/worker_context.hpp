// What the workers of one client share.
#pragma once

#include "client/base/context.hpp"
#include "client/core/completions.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/recently_contended.hpp"
#include "client/core/submission_queue.hpp"

namespace rowlock::client_layer {

class reconciliation;

// Owned by the engine.
struct worker_context {
  context& shared;
  submission_queue& queue;
  completions& complete;
  recently_contended& contended;
  keeper_agenda& agenda;
  reconciliation& reconcile;
};

}  // namespace rowlock::client_layer
