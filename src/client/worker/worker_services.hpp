// What the workers of one client share.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/core/keeper_agenda.hpp"
#include "client/core/recently_contended.hpp"
#include "client/core/request_settler.hpp"
#include "client/core/submission_queue.hpp"

namespace rowlock::client_layer {

class reconciliation;

// Owned by the engine.
struct worker_services {
  client_environment& environment;
  submission_queue& queue;
  request_settler& complete;
  recently_contended& contended;
  keeper_agenda& agenda;
  reconciliation& reconcile;
};

}  // namespace rowlock::client_layer
