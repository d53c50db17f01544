#include "client/worker/deadlock_search.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace rowlock::client_layer {

deadlock_search::look_ptr deadlock_search::begin() {
  return std::make_shared<look>(latest_ ? latest_->number + 1 : 1, environment_.time.now());
}

void deadlock_search::submit_step(const look_ptr& made) {
  const auto task = std::make_shared<task_operation>();
  task->work = [this, made](store::session& session) {
    const auto note = [&](const error& thrown) {
      const model::annotated_lock held{mutex_};
      of(*made).failure.emplace(copy_of(thrown));
    };
    try {
      read_step(session, *made);
    } catch (const error& thrown) {
      note(thrown);
      throw;
    }
  };
  task->answer.on_complete([this, made] {
    bool goes_on = std::exchange(made->goes_on, false);
    try {
      if (goes_on) submit_step(made);
    } catch (...) {
      // Without memory the look ends with what it has read; the next look reads all names anew.
      goes_on = false;
    }
    if (goes_on) return;
    const model::annotated_lock held{mutex_};
    of(*made).now = state::read;
    changed_.notify_all();
  });
  queue_.submit_background(task);
}

// So that nobody waits for a look that could not be sent.
void deadlock_search::give_up(const look_ptr& made) {
  const model::annotated_lock held{mutex_};
  of(*made).now = state::done;
  if (latest_ == made) latest_.reset();
  changed_.notify_all();
}

// The first step reads the names of the locks that somebody waits for. Each further step reads one of these
// locks.
void deadlock_search::read_step(store::admin_verbs& session, look& made) {
  if (!made.names) {
    made.names = session.waited_for();
    std::reverse(made.names->begin(), made.names->end());
  } else {
    if (auto lock = read_waiters(session, made.names->back())) made.locks.push_back(std::move(*lock));
    made.names->pop_back();
  }
  made.goes_on = !made.names->empty();
}

void deadlock_search::search(look& found) {
  of(found).now = state::searched;
  const auto locks = std::move(found.locks);
  std::vector<wait_cycle> cycles;
  try {
    const model::annotated_unlock unlocked{mutex_};
    cycles = find_cycles(locks);
  } catch (const std::bad_alloc&) {
    // Nothing was found; the next look searches again.
  }
  of(found).cycles = std::move(cycles);
  of(found).now = state::done;
  changed_.notify_all();
}

wait_cycle deadlock_search::circle_of(std::uint64_t owner, std::uint64_t& after, std::optional<instant> until,
                                      const std::stop_token& stop) {
  const std::stop_callback on_stop{stop, [this] {
                                     const model::annotated_lock lock{mutex_};
                                     changed_.notify_all();
                                   }};
  model::annotated_lock lock{mutex_};
  const auto fresh = environment_.time.now() - environment_.settings.poll_interval;
  const bool serves = latest_ && latest_->number > after && latest_->begun_at > fresh;
  if (!serves) {
    const auto made = latest_ = begin();
    lock.unlock();
    try {
      submit_step(made);
    } catch (...) {
      give_up(made);
      throw;
    }
    lock.lock();
  }
  const auto mine = latest_;
  const auto latest = environment_.time.now() + environment_.longest_call();
  const auto end = until ? std::min(*until, latest) : latest;
  while (of(*mine).now != state::done) {
    if (of(*mine).now == state::read && !of(*mine).failure) {
      search(*mine);
      continue;
    }
    if (of(*mine).failure) break;
    if (stop.stop_requested() || environment_.time.now() >= end) return {};
    environment_.time.wait_until(lock, changed_, end);
  }
  after = mine->number;
  if (of(*mine).failure && !of(*mine).failure->transient()) throw copy_of(*of(*mine).failure);
  const auto is_in_it = [&](const wait_cycle& cycle) {
    return std::any_of(cycle.begin(), cycle.end(),
                       [&](const stuck_waiter& one) { return one.waiter.waiter.hold.owner() == owner; });
  };
  const auto& cycles = of(*mine).cycles;
  const auto found = std::find_if(cycles.begin(), cycles.end(), is_in_it);
  return found == cycles.end() ? wait_cycle{} : *found;
}

template <class Result>
std::optional<Result> deadlock_search::wait(promised<Result>& answer, std::uint64_t owner,
                                            std::optional<instant> until, const std::stop_token& stop) {
  constexpr int looks_of_others = 3;
  wait_cycle seen;
  int looks = 0;
  std::uint64_t read = 0;
  for (;;) {
    const auto look_at = environment_.time.now() + environment_.settings.poll_interval;
    if (until && look_at >= *until) return {};
    if (auto given = answer.wait_a_while(environment_.time, look_at, stop)) return given;
    if (stop.stop_requested()) return {};
    auto cycle = circle_of(owner, read, until, stop);
    if (cycle.empty() || !is_same_cycle(cycle, seen)) {
      seen = std::move(cycle);
      looks = 0;
      continue;
    }
    const auto last = std::max_element(cycle.begin(), cycle.end(), [](const auto& a, const auto& b) {
      return a.waiter.waiter.hold < b.waiter.waiter.hold;
    });
    if (last->waiter.waiter.hold.owner() != owner && ++looks < looks_of_others) continue;
    if (answer.is_complete()) continue;
    throw error(errc::deadlock, "a circle of waiters: " + describe(cycle));
  }
}

template std::optional<hold_ptr> deadlock_search::wait(promised<hold_ptr>&, std::uint64_t,
                                                       std::optional<instant>, const std::stop_token&);
template std::optional<std::vector<hold_ptr>> deadlock_search::wait(promised<std::vector<hold_ptr>>&,
                                                                    std::uint64_t, std::optional<instant>,
                                                                    const std::stop_token&);

}  // namespace rowlock::client_layer
