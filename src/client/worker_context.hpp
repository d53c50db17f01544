// What the workers of one client share.
#pragma once

#include "client/completions.hpp"
#include "client/context.hpp"
#include "client/keeper_agenda.hpp"
#include "client/recently_contended.hpp"
#include "client/submission_queue.hpp"

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
