// A client is closed when its last handle is destroyed. A rowlock::client has a handle, and so has each of
// its locks and holds.
#pragma once

#include <rowlock/config.hpp>

#include <memory>

namespace rowlock::client_layer {

class engine;

// Makes the handle that a rowlock::client has; engine::handle() returns it from then on. Call this function
// once for each engine. In a forked child the last handle does nothing: the engine's sockets and threads
// belong to the parent.
std::shared_ptr<engine> closing_handle(std::shared_ptr<engine> engine);

}  // namespace rowlock::client_layer
