#include <rowlock/async_barrier.hpp>

#include "client/call/arrive.hpp"
#include "primitives/async_call.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::arrival;
using client_layer::wait_limit;
using primitives::access;
using async_arrival = client_layer::async_call<arrival>;

wait_limit within(time_limit timeout) {
  return {.waits = true, .limit = timeout.length()};
}

void take_number(async_arrival& over, arrived& into) {
  into.generation = over.take();
}

void call_when_all_arrived(executor where, const barrier& at, const wait_limit& how_long,
                           std::function<void(arrived)> done, std::stop_token stop) {
  primitives::call_when_over<arrival, arrived>(access::db(at), std::move(where), std::move(done),
                                               &take_number, access::definition(at), how_long,
                                               std::move(stop));
}

template <class Awaited>
Awaited awaiting_all(executor where, const barrier& at, const wait_limit& how_long, std::stop_token stop) {
  return primitives::awaiting<Awaited, arrival>(access::db(at), std::move(where), access::definition(at),
                                                how_long, std::move(stop));
}

}  // namespace

void arrive_async(executor where, const barrier& at, std::function<void(arrived)> done,
                  std::stop_token stop) {
  call_when_all_arrived(std::move(where), at, {.waits = true}, std::move(done), std::move(stop));
}

void arrive_async(executor where, const barrier& at, time_limit timeout, std::function<void(arrived)> done,
                  std::stop_token stop) {
  call_when_all_arrived(std::move(where), at, within(timeout), std::move(done), std::move(stop));
}

std::int64_t awaited_arrival::await_resume() {
  return static_cast<async_arrival&>(settled()).take().value();
}

std::optional<std::int64_t> awaited_timed_arrival::await_resume() {
  return static_cast<async_arrival&>(settled()).take();
}

awaited_arrival arrive_on(executor where, const barrier& at, std::stop_token stop) {
  return awaiting_all<awaited_arrival>(std::move(where), at, {.waits = true}, std::move(stop));
}

awaited_timed_arrival arrive_on(executor where, const barrier& at, time_limit timeout, std::stop_token stop) {
  return awaiting_all<awaited_timed_arrival>(std::move(where), at, within(timeout), std::move(stop));
}

ROWLOCK_END_NAMESPACE
