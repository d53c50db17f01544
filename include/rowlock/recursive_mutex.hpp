// A mutex that the thread which holds it may acquire again, without a round trip.
#pragma once

#include <rowlock/mutex.hpp>

#include <cstddef>

ROWLOCK_BEGIN_NAMESPACE

// In the database it is the same lock as a rowlock::mutex of that name. A thread may re-enter through any object with
// the same client and name: two such recursive_mutex objects are one lock. Each re-entry returns a hold with the same
// token and id, and keeps the first acquire's options; the last of these holds releases the lock, and the release of
// another one only counts down (release_result::released). A hold that is lost, or that another thread is transferring,
// is not re-entered: acquire() then acquires the lock anew. Only holds that a recursive_mutex has acquired on that
// thread are re-entered: one that has the lock by adopt(), reclaim(), acquire_all(), a mutex or an asynchronous call
// would wait for itself in acquire(). A thread that reuses the std::thread::id of an ended thread does not inherit its
// holds. After fork() the child holds nothing.
class ROWLOCK_EXPORT recursive_mutex : public exclusive_lock {
 public:
  recursive_mutex(client db, std::string name, const lock_options& lock = {});  // as mutex

  // How often this thread holds the lock now, through any object of this client and name. 0 if the hold was lost, or is
  // being transferred. Throws error(forked).
  [[nodiscard]] std::size_t depth() const;
};

ROWLOCK_END_NAMESPACE
