#include <rowlock/async.hpp>

#include "client/async_acquire.hpp"
#include "client/async_release.hpp"
#include "primitives/standard_lock.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::async_acquire;
using primitives::access;

// Empty: waits for ever.
using timeout_of_wait = std::optional<time_limit>;

// The wait keeps no handle of the client, so the end of the caller's last handle closes the client.
std::shared_ptr<async_acquire> begin_wait(executor where, const wanted& lock, timeout_of_wait timeout,
                                          const acquire_options& how, async_acquire::continuation then) {
  if (!where) throw error(errc::invalid_argument, "the executor is empty; nothing could resume the wait");
  const auto how_long = timeout ? primitives::wait_limit_of(*timeout) : primitives::wait_limit{.waits = true};
  return std::make_shared<async_acquire>(access::engine(access::db(lock))->shared_from_this(), how_long,
                                         how.stop, std::move(where), std::move(then));
}

void put(client_layer::hold_ptr granted, acquired& result) {
  result.hold = access::make<hold>(std::move(granted));
}

void put(const client_layer::hold_ptr& passed, waited& result) {
  result.open = passed != nullptr;
}

template <class Result>
Result taken_from(async_acquire& wait) {
  Result result;
  try {
    put(wait.take(), result);
  } catch (const error& failure) {
    result.failure.emplace(failure);
  }
  return result;
}

template <class Result>
void call_when_over(executor where, const wanted& lock, timeout_of_wait timeout,
                    std::function<void(Result)> done, const acquire_options& how) {
  if (!done) throw error(errc::invalid_argument, "the callback is empty; nothing would receive the result");
  const auto wait =
      begin_wait(std::move(where), lock, timeout, how,
                 [done = std::move(done)](async_acquire& over) { done(taken_from<Result>(over)); });
  wait->start(access::lock(lock), how);
}

// Requires: it is or was a hold.
std::shared_ptr<client_layer::async_release> begin_release(executor where, const hold& held,
                                                           std::function<void(release_result)> done) {
  auto& engine = access::state(held)->engine();
  if (engine.is_forked()) engine.check_usable();
  return std::make_shared<client_layer::async_release>(engine.shared_from_this(), std::move(where),
                                                       std::move(done));
}

void check_executor(const executor& where) {
  if (!where)
    throw error(errc::invalid_argument,
                "the executor is empty; nothing could deliver the result of the release");
}

}  // namespace

void acquire_async(executor where, const wanted& lock, std::function<void(acquired)> done,
                   const acquire_options& how) {
  call_when_over(std::move(where), lock, {}, std::move(done), how);
}

void try_acquire_async(executor where, const wanted& lock, time_limit timeout,
                       std::function<void(acquired)> done, const acquire_options& how) {
  call_when_over(std::move(where), lock, timeout, std::move(done), how);
}

awaited_acquire::awaited_acquire(executor where, wanted lock, std::optional<time_limit> timeout,
                                 acquire_options how)
    : where_(std::move(where)), lock_(std::move(lock)), timeout_(timeout), how_(std::move(how)) {}

awaited_acquire::awaited_acquire(awaited_acquire&& other) noexcept = default;

awaited_acquire::~awaited_acquire() {
  if (wait_) wait_->abandon();
}

void awaited_acquire::begin(std::function<void()> resume) {
  wait_ = begin_wait(std::move(where_), lock_, timeout_, how_,
                     [resume = std::move(resume)](async_acquire&) { resume(); });
  // The coroutine may be resumed, and this object destroyed, before start() returns.
  const auto wait = wait_;
  wait->start(access::lock(lock_), how_);
}

hold awaited_acquire::await_resume() {
  return access::make<hold>(wait_->take());
}

awaited_acquire acquire_on(executor where, wanted lock, acquire_options how) {
  return access::make<awaited_acquire>(std::move(where), std::move(lock), timeout_of_wait{}, std::move(how));
}

awaited_acquire try_acquire_on(executor where, wanted lock, time_limit timeout, acquire_options how) {
  return access::make<awaited_acquire>(std::move(where), std::move(lock), timeout_of_wait{timeout},
                                       std::move(how));
}

void wait_async(executor where, const latch& on, std::function<void(waited)> done, std::stop_token stop) {
  call_when_over(std::move(where), access::wait(on), {}, std::move(done), {.stop = std::move(stop)});
}

void wait_async(executor where, const latch& on, time_limit timeout, std::function<void(waited)> done,
                std::stop_token stop) {
  call_when_over(std::move(where), access::wait(on), timeout, std::move(done), {.stop = std::move(stop)});
}

bool awaited_wait::await_resume() {
  return acquire_.wait_->take() != nullptr;
}

awaited_wait wait_on(executor where, const latch& on, std::stop_token stop) {
  acquire_options how{.stop = std::move(stop)};
  return access::make<awaited_wait>(acquire_on(std::move(where), access::wait(on), std::move(how)));
}

awaited_wait wait_on(executor where, const latch& on, time_limit timeout, std::stop_token stop) {
  acquire_options how{.stop = std::move(stop)};
  return access::make<awaited_wait>(
      try_acquire_on(std::move(where), access::wait(on), timeout, std::move(how)));
}

void release_async(hold held) {
  const auto& state = access::state(held);
  if (!state) return;
  auto& engine = state->engine();
  if (engine.is_forked()) engine.check_usable();
  if (const auto ended = access::end(held); ended.releases) engine.releaser().begin(*ended.releases);
}

void release_async(executor where, hold held, std::function<void(release_result)> done) {
  if (!done)
    throw error(errc::invalid_argument,
                "the callback is empty; nothing would receive the result of the release");
  check_executor(where);
  if (!access::state(held)) return where([done = std::move(done)] { done(release_result::lost); });
  const auto begun = begin_release(std::move(where), held, std::move(done));
  const auto [releases, otherwise] = access::end(held);
  begun->start(releases, otherwise);
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
  release_ = begin_release(where, held_, [this, resume = std::move(resume)](release_result result) {
    result_ = result;
    resume();
  });
  const auto begun = release_;
  const auto [releases, otherwise] = access::end(held_);
  begun->start(releases, otherwise);
}

awaited_release release_on(executor where, hold held) {
  return access::make<awaited_release>(std::move(where), std::move(held));
}

ROWLOCK_END_NAMESPACE
