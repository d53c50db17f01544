// The rules that every change must obey, whatever decided it. A violation is a fault of the layers above.
#pragma once

#include "store/store.hpp"

namespace rowlock::store {

// Throws error(internal) for a violation.
void check_change(const lock_view& before, const lock_change& change);

}  // namespace rowlock::store
