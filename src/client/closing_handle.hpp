// The last handle of a client closes it.
#pragma once

#include <rowlock/config.hpp>

#include <memory>

namespace rowlock::client_layer {

class engine;

// What a rowlock::client holds. In a forked child the last handle does nothing: the engine's sockets and
// threads belong to the parent.
std::shared_ptr<engine> closing_handle(std::shared_ptr<engine> engine);

}  // namespace rowlock::client_layer
