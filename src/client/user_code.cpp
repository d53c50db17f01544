#include "client/user_code.hpp"

#include <algorithm>
#include <vector>

namespace rowlock::client_layer {

namespace {

// The objects through which this thread has entered the user's code, innermost last.
std::vector<const user_code*>& inside() {
  thread_local std::vector<const user_code*> doors;
  return doors;
}

}  // namespace

bool user_code::enter() {
  inside().push_back(this);
  const model::annotated_lock lock{mutex_};
  if (closed_) {
    inside().pop_back();
    return false;
  }
  ++under_way_;
  return true;
}

void user_code::leave() {
  inside().pop_back();
  const model::annotated_lock lock{mutex_};
  --under_way_;
  changed_.notify_all();
}

void user_code::close() {
  const auto own = std::count(inside().begin(), inside().end(), this);
  model::annotated_lock lock{mutex_};
  closed_ = true;
  changed_.wait(lock, [&]() ROWLOCK_REQUIRES(mutex_) { return under_way_ <= own; });
}

}  // namespace rowlock::client_layer
