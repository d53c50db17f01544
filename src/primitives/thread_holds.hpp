// What each thread has locked with lock() or lock_shared(), which return no hold.
#pragma once

#include "model/annotated_mutex.hpp"
#include "model/ids.hpp"

#include <rowlock/hold.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>

namespace rowlock::primitives {

// Thread-safe. Only the thread of an entry makes, changes and removes it, so the mutex guards only the list. Two
// threads have an entry at the same time if one's hold was lost and the other has been granted the lock since.
class thread_holds {
 public:
  struct entry {
    hold held;
    std::size_t writes = 0;  // how often the entry's thread has locked it for writing
    std::size_t reads = 0;
    std::uint64_t owner = model::hold_id::owner_of_this_thread();
  };
  static bool is_written(const entry& one) { return one.writes > 0; }
  static bool is_read(const entry& one) { return one.reads > 0; }
  static bool is_valid(const entry& one) { return one.held.valid(); }

  // The calling thread's latest entry that meets the condition. Null: there is none.
  template <class Condition>
  entry* innermost(Condition condition) const {
    const model::annotated_lock lock{mutex_};
    const auto owner = model::hold_id::owner_of_this_thread();
    const auto found = std::ranges::find_if(
        entries_, [&](const entry& one) { return one.owner == owner && condition(one); });
    return found == entries_.end() ? nullptr : &*found;
  }

  // Adds an entry of the calling thread. If memory runs out, the hold is released.
  void push(hold held, std::size_t writes, std::size_t reads) {
    std::list<entry> made;
    made.push_front({std::move(held), writes, reads});
    const model::annotated_lock lock{mutex_};
    entries_.splice(entries_.begin(), made);
  }

  // Removes an entry and returns its hold, which the caller releases: a release calls the database, so it must happen
  // outside the mutex.
  hold remove(const entry& over) {
    std::list<entry> removed;
    {
      const model::annotated_lock lock{mutex_};
      const auto at = std::ranges::find_if(entries_, [&](const entry& one) { return &one == &over; });
      removed.splice(removed.begin(), entries_, at);
    }
    return std::move(removed.front().held);
  }

 private:
  mutable model::annotated_mutex mutex_;
  mutable std::list<entry> entries_ ROWLOCK_GUARDED_BY(mutex_);  // the latest first
};

}  // namespace rowlock::primitives
