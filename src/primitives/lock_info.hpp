// Converts what a store shows of a lock to the public types.
#pragma once

#include "client/engine.hpp"
#include "store/admin_verbs.hpp"

#include <rowlock/lock_info.hpp>

namespace rowlock::primitives {

lock_info to_public(const store::lock_info& info, client_layer::engine& asked_by);
waiter_info to_public(const store::waiter_info& info, client_layer::engine& asked_by);

}  // namespace rowlock::primitives
