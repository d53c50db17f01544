#include "client/call/closing_handle.hpp"

#include "client/engine.hpp"

#include <utility>

namespace rowlock::client_layer {

std::shared_ptr<engine> closing_handle(std::shared_ptr<engine> engine) {
  struct closer {
    explicit closer(std::shared_ptr<client_layer::engine> closed) : engine(std::move(closed)) {}
    closer(const closer&) = delete;
    closer& operator=(const closer&) = delete;
    ~closer() {
      if (engine->is_forked()) {
        // Not even the destructors of the parent's sockets and threads may run here.
        new std::shared_ptr<client_layer::engine>{std::move(engine)};
        return;
      }
      engine->close();
    }
    std::shared_ptr<client_layer::engine> engine;
  };
  auto* raw = engine.get();
  const std::shared_ptr<client_layer::engine> handle{std::make_shared<closer>(std::move(engine)), raw};
  raw->attach(handle);
  return handle;
}

}  // namespace rowlock::client_layer
