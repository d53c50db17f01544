#pragma once

#include "store/store.hpp"

#include <memory>
#include <mutex>

namespace rowlock::test {

// A session that connects when it is first used, because many tests do not need it. Two threads may use it for the
// first time: one calls a verb, and the other one interrupts that.
class session_on_first_use {
 public:
  explicit session_on_first_use(store::database& in) : in_{in} {}
  store::session& operator*() {
    std::call_once(connected_, [this] { session_ = in_.connect(); });
    return *session_;
  }
  store::session* operator->() { return &**this; }

 private:
  store::database& in_;
  std::once_flag connected_;
  std::unique_ptr<store::session> session_;
};

}  // namespace rowlock::test
