#include <rowlock/async.hpp>

#include "client/call/acquire_call.hpp"
#include "client/call/release_call.hpp"
#include "primitives/async_call.hpp"
#include "primitives/standard_lock.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::acquire_call;
using client_layer::release_call;
using primitives::access;
using primitives::check_executor;
using primitives::wait_limit;
using primitives::wait_limit_of;
using async_acquire = client_layer::async_call<acquire_call>;
using async_release = client_layer::async_call<release_call>;

constexpr wait_limit for_ever{.waits = true};

void take(async_acquire& over, acquired& into) {
  into.hold = access::make<hold>(over.take());
}

void take(async_acquire& over, waited& into) {
  into.open = over.take() != nullptr;
}

template <class Result>
void call_when_over(executor where, const wanted& lock, const wait_limit& how_long,
                    std::function<void(Result)> done, const acquire_options& how) {
  primitives::call_when_over<acquire_call, Result>(access::db(lock), std::move(where), std::move(done), &take,
                                                   access::lock(lock), how_long, how);
}

template <class Awaited>
Awaited awaiting(executor where, const wanted& lock, const wait_limit& how_long, acquire_options how) {
  return primitives::awaiting<Awaited, acquire_call>(access::db(lock), std::move(where), access::lock(lock),
                                                     how_long, std::move(how));
}

// What the caller of a release learns from it.
release_result take(async_release& over) {
  try {
    return over.take();
  } catch (const error&) {
    return release_result::unknown;  // refused for good: whether it is held is not known
  }
}

// Makes the release without sending it. Requires: `held` is or was a hold.
std::shared_ptr<async_release> make_release(executor where, const hold& held,
                                            std::function<void(release_result)> done) {
  auto& engine = access::state(held)->engine();
  engine.check_process();
  return std::make_shared<async_release>(engine.shared_from_this(), std::move(where),
                                         [done = std::move(done)](async_release& over) { done(take(over)); });
}

void send(async_release& made, hold& held) {
  auto [releases, otherwise] = access::end(held);
  made.asked().set(std::move(releases), otherwise);
  made.start_anyway();
}

}  // namespace

void acquire_async(executor where, const wanted& lock, std::function<void(acquired)> done,
                   const acquire_options& how) {
  call_when_over(std::move(where), lock, for_ever, std::move(done), how);
}

void try_acquire_async(executor where, const wanted& lock, time_limit timeout,
                       std::function<void(acquired)> done, const acquire_options& how) {
  call_when_over(std::move(where), lock, wait_limit_of(timeout), std::move(done), how);
}

awaited_request::awaited_request(maker make) noexcept : make_(std::move(make)) {}

awaited_request::awaited_request(awaited_request&& other) noexcept = default;

awaited_request::~awaited_request() {
  if (request_) request_->abandon();
}

void awaited_request::begin(std::function<void()> resume) {
  request_ = make_(std::move(resume));
  // The coroutine may be resumed, and this object destroyed, before start() returns.
  const auto begun = request_;
  begun->start();
}

hold awaited_acquire::await_resume() {
  return access::make<hold>(static_cast<async_acquire&>(settled()).take());
}

awaited_acquire acquire_on(executor where, wanted lock, acquire_options how) {
  return awaiting<awaited_acquire>(std::move(where), lock, for_ever, std::move(how));
}

awaited_acquire try_acquire_on(executor where, wanted lock, time_limit timeout, acquire_options how) {
  return awaiting<awaited_acquire>(std::move(where), lock, wait_limit_of(timeout), std::move(how));
}

void wait_async(executor where, const latch& on, std::function<void(waited)> done, std::stop_token stop) {
  call_when_over(std::move(where), access::wait(on), for_ever, std::move(done), {.stop = std::move(stop)});
}

void wait_async(executor where, const latch& on, time_limit timeout, std::function<void(waited)> done,
                std::stop_token stop) {
  call_when_over(std::move(where), access::wait(on), wait_limit_of(timeout), std::move(done),
                 {.stop = std::move(stop)});
}

bool awaited_wait::await_resume() {
  return static_cast<async_acquire&>(settled()).take() != nullptr;
}

awaited_wait wait_on(executor where, const latch& on, std::stop_token stop) {
  acquire_options how{.stop = std::move(stop)};
  return awaiting<awaited_wait>(std::move(where), access::wait(on), for_ever, std::move(how));
}

awaited_wait wait_on(executor where, const latch& on, time_limit timeout, std::stop_token stop) {
  acquire_options how{.stop = std::move(stop)};
  return awaiting<awaited_wait>(std::move(where), access::wait(on), wait_limit_of(timeout), std::move(how));
}

void release_async(hold held) {
  const auto& state = access::state(held);
  if (!state) return;
  auto& engine = state->engine();
  engine.check_process();
  if (const auto ended = access::end(held); ended.releases) engine.releaser().begin(*ended.releases);
}

void release_async(executor where, hold held, std::function<void(release_result)> done) {
  if (!done)
    throw error(errc::invalid_argument,
                "the callback is empty; nothing would receive the result of the release");
  check_executor(where);
  if (!access::state(held)) return where([done = std::move(done)] { done(release_result::lost); });
  send(*make_release(std::move(where), held, std::move(done)), held);
}

awaited_release::awaited_release(executor where, hold held) noexcept
    : where_(std::move(where)), held_(std::move(held)) {}

awaited_release::awaited_release(awaited_release&& other) noexcept = default;

awaited_release::~awaited_release() {
  if (release_) release_->abandon();
}

void awaited_release::begin(std::function<void()> resume) {
  check_executor(where_);
  // The coroutine may be resumed, and this object destroyed, before the executor or start() returns.
  const auto where = std::move(where_);
  if (!access::state(held_)) return where(std::move(resume));
  const auto made = make_release(where, held_, [this, resume = std::move(resume)](release_result result) {
    result_ = result;
    resume();
  });
  release_ = made;
  send(*made, held_);
}

awaited_release release_on(executor where, hold held) {
  return access::make<awaited_release>(std::move(where), std::move(held));
}

ROWLOCK_END_NAMESPACE
