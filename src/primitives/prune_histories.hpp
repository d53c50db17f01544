// The part of admin::collect that deletes the lines of histories.
#pragma once

#include "client/task_executor.hpp"

namespace rowlock::primitives {

// Deletes what is more than what is kept, of all names, whoever has written it. A name that is recorded no more keeps
// nothing.
void prune_histories(client_layer::task_executor& tasks);

}  // namespace rowlock::primitives
