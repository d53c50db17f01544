// The part of admin::collect that deletes lines of histories.
#pragma once

#include "client/worker/task_executor.hpp"

namespace rowlock::primitives {

// Deletes, for all names and whoever wrote them, the lines beyond what is kept. A name that is no longer recorded
// keeps none.
void prune_histories(client_layer::task_executor& tasks);

}  // namespace rowlock::primitives
