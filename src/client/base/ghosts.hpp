// Statements of broken connections that the server may still execute. They belong to the client: a request
// whose statement may be among them is not sent again on any connection before they are over (I6, I7).
#pragma once

#include "client/base/time_source.hpp"
#include "model/annotated_mutex.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// Where a broken session's statement may still run.
struct ghost {
  std::string backend;  // see session::backend
  instant broke_at;
};

// Thread-safe.
class ghosts {
 public:
  void add(ghost one);
  void remove(const ghost& one);
  // Removes a ghost whose end nobody has seen. The server's timeouts should have ended it, but that is no proof.
  void forget(const ghost& one);
  // There was no memory to add a ghost: nobody waits for its end, as for one that was forgotten.
  void could_not_add() noexcept {
    if (on_forgotten) on_forgotten();
  }
  // Called by forget() and could_not_add(), under no mutex. Must not throw. Set it before the first add().
  std::function<void()> on_forgotten{};
  bool empty() const noexcept { return count_.load() == 0; }
  std::vector<ghost> all() const;

 private:
  mutable model::annotated_mutex mutex_;
  std::vector<ghost> all_ ROWLOCK_GUARDED_BY(mutex_);
  std::atomic<std::size_t> count_{0};
};

}  // namespace rowlock::client_layer
