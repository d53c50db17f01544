#include "support/memory_fixture.hpp"

namespace rowlock::test {

bool memory_fixture::can(capability what) const {
  return what != capability::backends;
}

void memory_fixture::expire(const model::lease_id& lease, std::chrono::microseconds ago) {
  server_->expire(lease, ago);
}

void memory_fixture::age(const std::string& name, std::chrono::microseconds unused_for) {
  server_->age(name, unused_for);
}

store_fixture::rival memory_fixture::lock_row(const std::string& name) {
  server_->lock_row(name);
  return {nullptr, [server = server_, name](void*) { server->unlock_row(name); }};
}

store_fixture::rival memory_fixture::guard(const std::string& name, const model::hold_id& hold,
                                           model::lock_mode) {
  if (!server_->guard(name, hold)) return {};
  // The pointer must not be null: null means that the guard found no hold.
  return {server_.get(), [server = server_, name](void*) { server->unguard(name); }};
}

store_fixture::rival memory_fixture::stall_renewals() {
  server_->on_call([](store::memory_call& call) {
    if (call.before("renew")) call.block();
  });
  return {nullptr, [server = server_](void*) {
            server->on_call({});
            server->unblock();
          }};
}

std::unique_ptr<store_fixture> make_memory_fixture() {
  return std::make_unique<memory_fixture>();
}

}  // namespace rowlock::test
