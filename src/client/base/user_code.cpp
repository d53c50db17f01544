#include "client/base/user_code.hpp"

namespace rowlock::client_layer {

namespace {

// The innermost call that this thread is inside. A plain pointer, because it may be used while the thread's other
// objects are destroyed, and when a static object closes its client.
thread_local const user_code::call* innermost = nullptr;

}  // namespace

user_code::call::call(user_code& entered) : entered_{entered}, outer_{innermost} {
  const model::annotated_lock lock{entered_.mutex_};
  if (entered_.closed_) return;
  ++entered_.under_way_;
  may_run_ = true;
  innermost = this;
}

user_code::call::~call() {
  if (!may_run_) return;
  innermost = outer_;
  const model::annotated_lock lock{entered_.mutex_};
  --entered_.under_way_;
  entered_.changed_.notify_all();
}

void user_code::close() {
  int own = 0;
  for (const auto* each = innermost; each != nullptr; each = each->outer_) {
    if (&each->entered_ == this) ++own;
  }
  model::annotated_lock lock{mutex_};
  closed_ = true;
  changed_.wait(lock, [&]() ROWLOCK_REQUIRES(mutex_) { return under_way_ <= own; });
}

}  // namespace rowlock::client_layer
