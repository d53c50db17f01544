// The last handle of a client closes it. A rowlock::client has one, and so has each of its holds.
#pragma once

#include <rowlock/config.hpp>

#include <memory>

namespace rowlock::client_layer {

class engine;

// What a rowlock::client holds; engine::handle() then returns the same. Call it once. In a forked child the last handle
// does nothing: the engine's sockets and threads belong to the parent.
std::shared_ptr<engine> closing_handle(std::shared_ptr<engine> engine);

}  // namespace rowlock::client_layer
