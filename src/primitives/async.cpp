#include <rowlock/async.hpp>

#include "client/async_acquire.hpp"
#include "client/joint_acquire.hpp"

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

namespace {

using client_layer::async_acquire;
using client_layer::wait_limit;

wait_limit limit_of(std::optional<std::chrono::nanoseconds> timeout) {
  if (!timeout) return {.waits = true};
  if (*timeout <= std::chrono::nanoseconds{0}) return {.waits = false};
  return {.waits = true, .limit = *timeout};
}

// The wait holds no handle of the client's, so the last of the caller's closes it.
std::shared_ptr<async_acquire> begin_wait(executor where, const wanted& lock,
                                          std::optional<std::chrono::nanoseconds> timeout,
                                          const acquire_options& how, async_acquire::continuation then) {
  if (!where) throw error(errc::invalid_argument, "an empty executor; nobody could go on");
  return std::make_shared<async_acquire>(lock.db().engine()->shared_from_this(), limit_of(timeout), how.stop,
                                         std::move(where), std::move(then));
}

acquired taken_from(async_acquire& wait) {
  acquired result;
  try {
    if (auto granted = wait.take()) result.hold.emplace(std::move(granted));
  } catch (const error& failure) {
    result.failure.emplace(failure);
  }
  return result;
}

void call_when_over(executor where, const wanted& lock, std::optional<std::chrono::nanoseconds> timeout,
                    std::function<void(acquired)> done, const acquire_options& how) {
  if (!done) throw error(errc::invalid_argument, "no function to call; nobody would have the hold");
  const auto wait = begin_wait(std::move(where), lock, timeout, how,
                               [done = std::move(done)](async_acquire& over) { done(taken_from(over)); });
  wait->start(lock.lock().definition, how, lock.lock().what);
}

}  // namespace

void acquire_async(executor where, const wanted& lock, std::function<void(acquired)> done,
                   const acquire_options& how) {
  call_when_over(std::move(where), lock, {}, std::move(done), how);
}

void try_acquire_async(executor where, const wanted& lock, time_limit timeout,
                       std::function<void(acquired)> done, const acquire_options& how) {
  call_when_over(std::move(where), lock, timeout.length(), std::move(done), how);
}

awaited_acquire::awaited_acquire(executor where, wanted lock, std::optional<std::chrono::nanoseconds> timeout,
                                 acquire_options how)
    : where_(std::move(where)), lock_(std::move(lock)), timeout_(timeout), how_(std::move(how)) {}

awaited_acquire::awaited_acquire(awaited_acquire&& other) noexcept = default;

awaited_acquire::~awaited_acquire() {
  if (wait_) wait_->abandon();
}

void awaited_acquire::begin(std::function<void()> resume) {
  wait_ = begin_wait(std::move(where_), lock_, timeout_, how_,
                     [resume = std::move(resume)](async_acquire&) { resume(); });
  // The coroutine may be resumed, and this object gone, before start() has returned.
  const auto wait = wait_;
  wait->start(lock_.lock().definition, how_, lock_.lock().what);
}

std::optional<hold> awaited_acquire::take() {
  auto granted = wait_->take();
  if (!granted) return {};
  return hold{std::move(granted)};
}

hold awaited_hold::await_resume() {
  return take().value();
}

std::optional<hold> awaited_attempt::await_resume() {
  return take();
}

awaited_hold acquire_on(executor where, wanted lock, acquire_options how) {
  return {std::move(where), std::move(lock), std::nullopt, std::move(how)};
}

awaited_attempt try_acquire_on(executor where, wanted lock, time_limit timeout, acquire_options how) {
  return {std::move(where), std::move(lock), timeout.length(), std::move(how)};
}

ROWLOCK_END_NAMESPACE
