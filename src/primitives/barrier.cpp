#include <rowlock/barrier.hpp>
#include <rowlock/error.hpp>

#include "client/call/arrive.hpp"
#include "primitives/standard_lock.hpp"

#include <fmt/format.h>

namespace rowlock::primitives {

class barrier_lock {
 public:
  barrier_lock(client db, std::string name, std::int64_t parties)
      : asked{std::move(name), model::lock_kind::barrier, parties}, acquire_{std::move(db), asked} {
    static_assert(barrier::most_parties <= static_cast<std::int64_t>(store::queue_window));
    if (parties >= 1 && parties <= barrier::most_parties) return;
    throw error(errc::invalid_argument,
                fmt::format("a barrier of {} members is outside 1 to {}", parties, barrier::most_parties));
  }

  const client& db() const noexcept { return acquire_.db(); }
  client_layer::engine& engine() const { return acquire_.engine(); }

  std::int64_t waiting() const {
    const auto stored = acquire_.stored();
    return stored ? stored->waiters : 0;
  }

  std::vector<participant> members() const { return acquire_.participants(); }

  const model::lock_definition asked;

 private:
  named_lock acquire_;
};

const client& access::db(const barrier& at) noexcept {
  return at.lock_->db();
}

const model::lock_definition& access::definition(const barrier& at) noexcept {
  return at.lock_->asked;
}

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

barrier::barrier(client db, std::string name, std::int64_t parties)
    : lock_(std::make_unique<primitives::barrier_lock>(std::move(db), std::move(name), parties)) {}

barrier::barrier(barrier&& other) noexcept = default;
barrier& barrier::operator=(barrier&& other) noexcept = default;
barrier::~barrier() = default;

const std::string& barrier::name() const noexcept {
  return lock_->asked.name;
}

std::int64_t barrier::parties() const noexcept {
  return lock_->asked.capacity;
}

std::int64_t barrier::arrive_and_wait(std::stop_token stop) {
  return client_layer::arrive(lock_->engine(), lock_->asked, {.waits = true}, stop).value();
}

std::optional<std::int64_t> barrier::arrive_and_wait_for(time_limit timeout, std::stop_token stop) {
  return client_layer::arrive(lock_->engine(), lock_->asked, {.waits = true, .limit = timeout.length()},
                              stop);
}

std::int64_t barrier::waiting() const {
  return lock_->waiting();
}

std::vector<participant> barrier::members() const {
  return lock_->members();
}

ROWLOCK_END_NAMESPACE
