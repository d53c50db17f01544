#include <rowlock/error.hpp>
#include <rowlock/shared_mutex.hpp>

#include "client/hold_state.hpp"
#include "primitives/standard_lock.hpp"

#include <algorithm>

namespace rowlock::primitives {

namespace {

using client_layer::outcome;

constexpr demand reading{model::lock_mode::shared, 1};

}  // namespace

// What lock_shared() has locked, by thread, each as often as it was entered. Thread-safe.
class read_holds {
 public:
  // Another entry of the calling thread's, into a hold that stands. False: it has none.
  bool enter() {
    const std::lock_guard lock{mutex_};
    const auto mine = innermost();
    if (mine == held_.end() || !mine->held->valid()) return false;
    ++mine->entries;
    return true;
  }
  void push(hold held) {
    auto owned = std::make_unique<hold>(std::move(held));
    const std::lock_guard lock{mutex_};
    held_.push_back({model::hold_id::owner_of_this_thread(), std::move(owned), 1});
  }
  // Undoes the calling thread's last entry; the hold, when that was its first. Throws error(hold_lost) when
  // it has none.
  std::unique_ptr<hold> leave(const std::string& name) {
    const std::lock_guard lock{mutex_};
    const auto mine = innermost();
    if (mine == held_.end()) {
      throw error(errc::hold_lost,
                  "\"" + name + "\" is not locked to read by this thread; lock_shared() it before");
    }
    if (--mine->entries > 0) return nullptr;
    auto last = std::move(mine->held);
    held_.erase(mine);
    return last;
  }
  // Null: the calling thread reads nothing.
  const hold* current() {
    const std::lock_guard lock{mutex_};
    const auto mine = innermost();
    return mine == held_.end() ? nullptr : mine->held.get();
  }

 private:
  struct entry {
    std::uint64_t owner;
    std::unique_ptr<hold> held;
    int entries;
  };

  std::vector<entry>::iterator innermost() {
    const auto last = std::find_if(
        held_.rbegin(), held_.rend(),
        [owner = model::hold_id::owner_of_this_thread()](const entry& one) { return one.owner == owner; });
    return last == held_.rend() ? held_.end() : std::prev(last.base());
  }

  std::mutex mutex_;
  std::vector<entry> held_;
};

class shared_lock {
 public:
  shared_lock(client db, std::string name, const lock_options& lock)
      : base{std::move(db),
             defined(std::move(name), model::lock_kind::shared_mutex, model::shared_mutex_capacity, lock)} {}

  const std::string& name() const { return base.acquiring().name(); }

  // Gives the hold that mode; false: it is refused. Asked again after a lost answer, and at last read.
  template <class Decide>
  bool change(const hold& held, model::lock_mode mode, Decide decide) {
    const auto state = state_of(held);
    const auto skew = engine().shared().skew();
    outcome settled;
    try {
      settled = engine().tasks().decide_with_retry(
          name(), state->id(),
          [decide, id = state->id(), skew](const store::lock_view& view) { return decide(view, id, skew); });
    } catch (const error& failure) {
      if (!failure.outcome_unknown()) throw;
      if (const auto known = read(*state); known && known->mode == mode) {
        become(*state, mode, known->token);
        return true;
      }
      // It may yet be done. A reader's share is what it has before, or after, or both.
      become(*state, model::lock_mode::shared, state->token());
      throw;
    }
    if (settled.result == outcome::what::absent) throw lost();
    if (settled.result != outcome::what::granted) return false;
    become(*state, mode, settled.token);
    return true;
  }

  client_layer::hold_ptr state_of(const hold& held) const {
    if (held.name() != name() || &held.state()->engine() != &engine()) {
      throw error(errc::invalid_argument, "the hold is not one of \"" + name() + "\"");
    }
    if (!held.valid()) throw lost();
    return held.state();
  }

  standard_lock base;
  read_holds reads;

 private:
  client_layer::engine& engine() const { return base.acquiring().engine(); }

  static void become(client_layer::hold_state& hold, model::lock_mode mode, model::token token) {
    hold.become(mode, mode == model::lock_mode::shared ? 1 : model::shared_mutex_capacity, token);
  }

  // The hold as it is stored, from beside its row, which somebody may keep. Empty: that cannot be told.
  std::optional<store::holder_info> read(const client_layer::hold_state& hold) const {
    try {
      const auto& shared = engine().shared();
      const auto stored = base.acquiring().stored({shared.time.now() + shared.settings.statement_timeout});
      if (!stored) return {};
      const auto found =
          std::ranges::find_if(stored->holders, [&](const auto& holder) { return holder.hold == hold.id(); });
      if (found != stored->holders.end()) return *found;
    } catch (const error&) {
      // What is thrown is why nothing is known.
    }
    return {};
  }

  error lost() const { return {errc::hold_lost, "the hold of \"" + name() + "\" is over"}; }
};

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

using primitives::reading;

shared_mutex::shared_mutex(client db, std::string name, const lock_options& lock)
    : lock_(std::make_unique<primitives::shared_lock>(std::move(db), std::move(name), lock)) {}

shared_mutex::~shared_mutex() = default;

const std::string& shared_mutex::name() const noexcept {
  return lock_->name();
}

hold shared_mutex::acquire(const acquire_options& how) {
  return lock_->base.acquiring().acquire(how);
}

std::optional<hold> shared_mutex::try_acquire(const acquire_options& how) {
  return lock_->base.acquiring().try_acquire(how);
}

std::optional<hold> shared_mutex::try_acquire_for(time_limit timeout, const acquire_options& how) {
  return lock_->base.acquiring().try_acquire_for(timeout, how);
}

hold shared_mutex::acquire_shared(const acquire_options& how) {
  return lock_->base.acquiring().acquire(how, reading);
}

std::optional<hold> shared_mutex::try_acquire_shared(const acquire_options& how) {
  return lock_->base.acquiring().try_acquire(how, reading);
}

std::optional<hold> shared_mutex::try_acquire_shared_for(time_limit timeout, const acquire_options& how) {
  return lock_->base.acquiring().try_acquire_for(timeout, how, reading);
}

void shared_mutex::downgrade(hold& held) {
  lock_->change(held, model::lock_mode::shared, client_layer::decide_downgrade);
}

bool shared_mutex::try_upgrade(hold& held) {
  return lock_->change(held, model::lock_mode::exclusive, client_layer::decide_upgrade);
}

void shared_mutex::lock() {
  if (lock_->base.locked().is_mine() || lock_->reads.current() != nullptr) {
    throw error(errc::deadlock, "this thread has locked \"" + name() +
                                    "\" already and would wait for itself; unlock it first");
  }
  lock_->base.locked().push(acquire());
}

bool shared_mutex::try_lock() {
  auto held = try_acquire();
  if (held) lock_->base.locked().push(std::move(*held));
  return held.has_value();
}

bool shared_mutex::lock_within(time_limit timeout) {
  auto held = try_acquire_for(timeout);
  if (held) lock_->base.locked().push(std::move(*held));
  return held.has_value();
}

void shared_mutex::unlock() {
  lock_->base.unlock();
}

void shared_mutex::lock_shared() {
  if (lock_->reads.enter()) return;
  if (lock_->base.locked().is_mine()) {
    throw error(errc::deadlock, "this thread has locked \"" + name() +
                                    "\" to write and would wait for itself; unlock it first");
  }
  lock_->reads.push(acquire_shared());
}

bool shared_mutex::try_lock_shared() {
  if (lock_->reads.enter()) return true;
  auto held = try_acquire_shared();
  if (held) lock_->reads.push(std::move(*held));
  return held.has_value();
}

bool shared_mutex::lock_shared_within(time_limit timeout) {
  if (lock_->reads.enter()) return true;
  auto held = try_acquire_shared_for(timeout);
  if (held) lock_->reads.push(std::move(*held));
  return held.has_value();
}

void shared_mutex::unlock_shared() {
  if (lock_->base.acquiring().engine().is_forked()) return;
  if (const auto last = lock_->reads.leave(name())) last->release();
}

wanted::wanted(const shared_mutex& lock) : wanted(lock.lock_->base.acquiring().wanted()) {}

wanted shared(const shared_mutex& lock) {
  return lock.lock_->base.acquiring().wanted(reading);
}

const hold& shared_mutex::current_hold() const {
  if (const auto* reads = lock_->reads.current()) return *reads;
  return lock_->base.locked().top();
}

ROWLOCK_END_NAMESPACE
