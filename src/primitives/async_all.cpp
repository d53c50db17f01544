#include <rowlock/async_all.hpp>

#include "client/call/joint_call.hpp"
#include "primitives/async_call.hpp"
#include "primitives/standard_lock.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::joint_call;
using async_joint_call = client_layer::async_call<joint_call>;
using primitives::access;
using primitives::wait_limit;
using primitives::wait_limit_of;

void take_all(async_joint_call& over, acquired_all& into) {
  into.holds = access::holds(over.take());
}

void call_with_all(executor where, const std::vector<wanted>& locks, const wait_limit& how_long,
                   std::function<void(acquired_all)> done, const acquire_options& how) {
  auto asked = access::locks(locks);
  primitives::call_when_over<joint_call, acquired_all>(asked.db, std::move(where), std::move(done), &take_all,
                                                       std::move(asked.wanted), how_long, how);
}

awaited_acquire_all await_all(executor where, const std::vector<wanted>& locks, const wait_limit& how_long,
                              acquire_options how) {
  auto asked = access::locks(locks);
  return primitives::awaiting<awaited_acquire_all, joint_call>(
      std::move(asked.db), std::move(where), std::move(asked.wanted), how_long, std::move(how));
}

}  // namespace

void acquire_all_async(executor where, const std::vector<wanted>& locks,
                       std::function<void(acquired_all)> done, const acquire_options& how) {
  call_with_all(std::move(where), locks, {.waits = true}, std::move(done), how);
}

void try_acquire_all_async(executor where, const std::vector<wanted>& locks, time_limit timeout,
                           std::function<void(acquired_all)> done, const acquire_options& how) {
  call_with_all(std::move(where), locks, wait_limit_of(timeout), std::move(done), how);
}

hold_set awaited_acquire_all::await_resume() {
  return access::holds(static_cast<async_joint_call&>(settled()).take());
}

awaited_acquire_all acquire_all_on(executor where, const std::vector<wanted>& locks, acquire_options how) {
  return await_all(std::move(where), locks, {.waits = true}, std::move(how));
}

awaited_acquire_all try_acquire_all_on(executor where, const std::vector<wanted>& locks, time_limit timeout,
                                       acquire_options how) {
  return await_all(std::move(where), locks, wait_limit_of(timeout), std::move(how));
}

ROWLOCK_END_NAMESPACE
