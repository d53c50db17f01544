// A mutex that Clang's thread-safety analysis understands: a member marked ROWLOCK_GUARDED_BY(mutex_) is used only
// while mutex_ is locked, or a build with Clang warns. Other compilers see a plain std::mutex and no attributes.
//
//   model::annotated_mutex mutex_;
//   int count_ ROWLOCK_GUARDED_BY(mutex_) = 0;
//   void add_locked(int more) ROWLOCK_REQUIRES(mutex_);
//
//   const model::annotated_lock lock{mutex_};
//
// Every mutex in src is of this type; tests/model/annotated_mutex_test.cpp checks that. The analysis does not look into
// constructors, destructors and exception handlers, so what they do under a mutex is in functions that they call. The
// analysis cannot follow a returned reference to guarded data, so a function that returns one is marked
// ROWLOCK_REQUIRES.
#pragma once

#include <rowlock/config.hpp>

#include <mutex>

#if defined(__clang__)
#define ROWLOCK_THREAD_ANNOTATION(...) __attribute__((__VA_ARGS__))
#else
#define ROWLOCK_THREAD_ANNOTATION(...)
#endif

// On a member: names the mutex that guards the member, or the data that it points to.
#define ROWLOCK_GUARDED_BY(mutex) ROWLOCK_THREAD_ANNOTATION(guarded_by(mutex))
#define ROWLOCK_PT_GUARDED_BY(mutex) ROWLOCK_THREAD_ANNOTATION(pt_guarded_by(mutex))
// On a function or a lambda, after its parameters: the caller has locked, or has not locked, the mutex.
#define ROWLOCK_REQUIRES(...) ROWLOCK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ROWLOCK_EXCLUDES(...) ROWLOCK_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// On a function that locks or unlocks the mutex; without an argument, its own object.
#define ROWLOCK_ACQUIRE(...) ROWLOCK_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ROWLOCK_TRY_ACQUIRE(...) ROWLOCK_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define ROWLOCK_RELEASE(...) ROWLOCK_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
// On a function that returns a reference to the mutex.
#define ROWLOCK_RETURNS_MUTEX(mutex) ROWLOCK_THREAD_ANNOTATION(lock_returned(mutex))
// On a function that the analysis cannot follow; say why beside it.
#define ROWLOCK_UNCHECKED ROWLOCK_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace rowlock::model {

class ROWLOCK_THREAD_ANNOTATION(capability("mutex")) annotated_mutex {
 public:
  void lock() ROWLOCK_ACQUIRE() { native_.lock(); }
  bool try_lock() ROWLOCK_TRY_ACQUIRE(true) { return native_.try_lock(); }
  void unlock() ROWLOCK_RELEASE() { native_.unlock(); }

 private:
  friend class annotated_lock;
  std::mutex native_;
};

// Locks the mutex for a scope, as std::unique_lock does. Converts to a std::unique_lock for a condition variable, whose
// wait returns with the mutex locked again.
class ROWLOCK_THREAD_ANNOTATION(scoped_lockable) annotated_lock {
 public:
  explicit annotated_lock(annotated_mutex& mutex) ROWLOCK_ACQUIRE(mutex) : native_{mutex.native_} {}
  // Requires: the caller has locked the mutex.
  annotated_lock(annotated_mutex& mutex, std::adopt_lock_t adopt) ROWLOCK_REQUIRES(mutex)
      : native_{mutex.native_, adopt} {}
  ~annotated_lock() ROWLOCK_RELEASE() = default;
  annotated_lock(const annotated_lock&) = delete;
  annotated_lock& operator=(const annotated_lock&) = delete;

  void lock() ROWLOCK_ACQUIRE() { native_.lock(); }
  void unlock() ROWLOCK_RELEASE() { native_.unlock(); }

  operator std::unique_lock<std::mutex>&() noexcept {
    return native_;
  }  // NOLINT(google-explicit-constructor)

 private:
  std::unique_lock<std::mutex> native_;
};

// Unlocks the mutex for a scope, in a function that ROWLOCK_REQUIRES it.
class ROWLOCK_THREAD_ANNOTATION(scoped_lockable) annotated_unlock {
 public:
  explicit annotated_unlock(annotated_mutex& mutex) ROWLOCK_RELEASE(mutex) : mutex_{mutex} {
    mutex_.unlock();
  }
  ~annotated_unlock() ROWLOCK_RELEASE() { mutex_.lock(); }
  annotated_unlock(const annotated_unlock&) = delete;
  annotated_unlock& operator=(const annotated_unlock&) = delete;

 private:
  annotated_mutex& mutex_;
};

}  // namespace rowlock::model
