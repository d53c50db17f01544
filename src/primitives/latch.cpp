#include <rowlock/error.hpp>
#include <rowlock/latch.hpp>

#include "primitives/standard_lock.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <memory>

namespace rowlock::primitives {

namespace {

using what = client_layer::outcome::what;

}  // namespace

class latch_lock {
 public:
  latch_lock(client db, std::string name, std::int64_t count)
      : asked{std::move(name), model::lock_kind::latch, count}, acquire_{std::move(db), asked} {
    if (count >= 1 && count <= model::highest_capacity) return;
    throw error(errc::invalid_argument,
                fmt::format("a latch's count of {} is outside 1 to {}", count, model::highest_capacity));
  }

  void count_down(std::int64_t n, const client_layer::call_limit& limit = {}) const {
    if (n < 1) {
      throw error(errc::invalid_argument,
                  fmt::format("\"{}\" cannot be counted down by {}; at least 1 is expected", asked.name, n));
    }
    // Each attempt keeps the token that it writes, for the next attempt.
    const auto tried = std::make_shared<std::atomic<model::token>>(0);
    const auto settled = decide(
        limit, [definition = asked, id = model::hold_id::random(), n, tried](const store::lock_view& view) {
          auto made = client_layer::decide_count_down(view, definition, id, n, tried->load());
          if (made.change.row) tried->store(made.change.row->token);
          return made;
        });
    if (settled.result == what::in_doubt) {
      throw error(errc::unreachable,
                  fmt::format("the answer was lost and \"{}\" was reset since; whether it was counted down "
                              "before that is unknown",
                              asked.name),
                  {}, true);
    }
    if (settled.result != what::overrun) return;
    throw error(errc::invalid_argument, fmt::format("\"{}\" cannot be counted down by {}: {} remain of {}",
                                                    asked.name, n, settled.remaining, asked.capacity));
  }

  void reset() const {
    decide({}, [definition = asked](const store::lock_view& view) {
      return client_layer::decide_reset(view, definition);
    });
  }

  std::int64_t remaining() const { return acquire_.unused(); }

  rowlock::wanted wanted() const { return acquire_.wanted(acquire_.shared()); }

  // If the latch is open already, this only reads.
  bool wait(const client_layer::wait_limit& how_long, std::stop_token stop) const {
    auto& engine = acquire_.engine();
    auto& time = engine.environment().time;
    client_layer::call_limit limit{.stop = stop};
    if (how_long.limit) limit.until = client_layer::later(time.now(), *how_long.limit);
    auto left = how_long;
    try {
      if (acquire_.unused(limit) == 0) return true;
      left.was_answered = true;
    } catch (const error& failure) {
      // A transient failure is not thrown: the wait below waits for the database, too, while there is time.
      if (!failure.transient() && failure.code() != errc::cancelled) throw;
      if (limit.until && time.now() >= *limit.until && !stop.stop_requested()) {
        if (const auto reason = how_long.reason_of_silence()) std::rethrow_exception(reason);
        return false;
      }
    }
    if (left.limit) {
      left.whole = left.limit;
      left.limit = *limit.until - time.now();
    }
    return client_layer::acquire(engine, acquire_.shared(), left, {.stop = std::move(stop)}) != nullptr;
  }

  const model::lock_definition asked;

 private:
  template <class Decide>
  client_layer::outcome decide(const client_layer::call_limit& limit, Decide decision) const {
    // Without this check a session that only reads would refuse the decision, and the call would be retried, in case
    // the client comes to a server that takes writes.
    acquire_.engine().check_may_write();
    auto settled = acquire_.engine().tasks().decide_or_create(asked, decision, limit);
    if (settled.result == what::mismatch) throw client_layer::mismatch(asked, settled.stored);
    return settled;
  }

  named_lock acquire_;
};

wanted access::wait(const latch& on) {
  return on.lock_->wanted();
}

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

latch::latch(client db, std::string name, std::int64_t count)
    : lock_(std::make_unique<primitives::latch_lock>(std::move(db), std::move(name), count)) {}

latch::latch(latch&& other) noexcept = default;
latch& latch::operator=(latch&& other) noexcept = default;
latch::~latch() = default;

const std::string& latch::name() const noexcept {
  return lock_->asked.name;
}

std::int64_t latch::count() const noexcept {
  return lock_->asked.capacity;
}

void latch::count_down(std::int64_t n) {
  lock_->count_down(n);
}

std::int64_t latch::remaining() const {
  return lock_->remaining();
}

bool latch::try_wait() const {
  return lock_->remaining() == 0;
}

void latch::wait(std::stop_token stop) {
  lock_->wait({.waits = true}, std::move(stop));
}

bool latch::wait_for(time_limit timeout, std::stop_token stop) {
  const auto how_long = primitives::wait_limit_of(timeout);
  return how_long.waits ? lock_->wait(how_long, std::move(stop)) : try_wait();
}

void latch::arrive_and_wait(std::int64_t n, std::stop_token stop) {
  lock_->count_down(n, {.stop = stop});
  lock_->wait({.waits = true}, std::move(stop));
}

bool latch::arrive_and_wait_for(time_limit timeout, std::int64_t n, std::stop_token stop) {
  lock_->count_down(n, {.stop = stop});
  return wait_for(timeout, std::move(stop));
}

void latch::reset() {
  lock_->reset();
}

ROWLOCK_END_NAMESPACE
