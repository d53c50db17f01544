// What a change must not do, whatever decided it. A violation is a fault of the layers above.
#pragma once

#include "store/store.hpp"

namespace rowlock::store {

// Throws error(internal).
void check_change(const lock_view& before, const lock_change& change);

}  // namespace rowlock::store
