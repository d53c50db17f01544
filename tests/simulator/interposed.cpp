// These functions replace those of the C library in this program. During a run the scheduler does their work.
// Outside of a run there is one thread, and they are as simple as possible. The C++ library must find them,
// although this project hides its own names.
#pragma GCC visibility push(default)
#include "simulator/native.hpp"
#include "simulator/scheduler.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>

namespace rowlock::simulator {

namespace {

scheduler* running() noexcept {
  return scheduler::active();
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

nanoseconds in_nanoseconds(const timespec& time) {
  return time.tv_sec * second + time.tv_nsec;
}

timespec in_timespec(nanoseconds time) {
  return {.tv_sec = time / second, .tv_nsec = time % second};
}

nanoseconds true_time(const timespec& reading, bool of_real_time) {
  nanoseconds time = in_nanoseconds(reading);
  if (of_real_time) time -= running()->real_time() - running()->read_clock();
  return running()->true_time(time);
}

int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return running()->wait(condition, mutex, true_time(*until, clock == CLOCK_REALTIME)) ? 0 : ETIMEDOUT;
}

long wait_for_word(const int* word, int value, nanoseconds until) {
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return -EAGAIN;
  const bool notified = running()->wait(word, nullptr, until);
  return notified || running()->now() < until ? 0 : -ETIMEDOUT;
}

long call_futex(const int* word, int operation, int value, const timespec* timeout) {
  switch (operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)) {
    case FUTEX_WAIT:
      return wait_for_word(word, value,
                           timeout == nullptr ? never : running()->now() + in_nanoseconds(*timeout));
    case FUTEX_WAIT_BITSET: {
      const bool of_real_time = (operation & FUTEX_CLOCK_REALTIME) != 0;
      return wait_for_word(word, value, timeout == nullptr ? never : true_time(*timeout, of_real_time));
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: return running()->notify(word, value);
    default: return -ENOSYS;
  }
}

}  // namespace

long native_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  long result = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

int native_create(pthread_t* made, const pthread_attr_t* how, void* (*body)(void*), void* argument) {
  static const auto create =
      next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return create(made, how, body, argument);
}

int native_join(pthread_t whom, void** result) {
  static const auto join = next<int (*)(pthread_t, void**)>("pthread_join");
  return join(whom, result);
}

double seconds_of_this_machine() {
  timespec time{};
  native_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&time), 0, 0, 0, 0);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace rowlock::simulator

using rowlock::simulator::running;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (auto* run = running())
    run->lock(mutex);
  else
    mutex->__data.__lock = 1;
  return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (auto* run = running()) return run->try_lock(mutex) ? 0 : EBUSY;
  if (mutex->__data.__lock != 0) return EBUSY;
  mutex->__data.__lock = 1;
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (auto* run = running())
    run->unlock(mutex);
  else
    mutex->__data.__lock = 0;
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (auto* run = running()) run->wait(condition, mutex, rowlock::simulator::never);
  return 0;
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  return running() ? rowlock::simulator::wait_until(condition, mutex, CLOCK_REALTIME, until) : ETIMEDOUT;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  return running() ? rowlock::simulator::wait_until(condition, mutex, clock, until) : ETIMEDOUT;
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (auto* run = running()) run->notify(condition, 1);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (auto* run = running()) run->notify(condition, INT_MAX);
  return 0;
}

int pthread_cond_destroy(pthread_cond_t*) noexcept {
  return 0;
}

int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*body)(void*),
                   void* argument) noexcept {
  if (auto* run = running()) return run->create(made, how, body, argument);
  return rowlock::simulator::native_create(made, how, body, argument);
}

int pthread_join(pthread_t whom, void** result) {
  if (auto* run = running()) return run->join(whom, result);
  return rowlock::simulator::native_join(whom, result);
}

int pthread_setname_np(pthread_t whom, const char* name) noexcept {
  if (auto* run = running()) run->name(whom, name);
  return 0;
}

int sched_yield() noexcept {
  if (auto* run = running()) run->yield();
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (auto* run = running()) {
    *time = rowlock::simulator::in_timespec(clock == CLOCK_REALTIME ? run->real_time() : run->read_clock());
    return 0;
  }
  return static_cast<int>(
      rowlock::simulator::native_syscall(SYS_clock_gettime, clock, reinterpret_cast<long>(time), 0, 0, 0, 0));
}

int nanosleep(const timespec* length, timespec*) {
  if (auto* run = running()) run->sleep_until(run->now() + rowlock::simulator::in_nanoseconds(*length));
  return 0;
}

int clock_nanosleep(clockid_t, int flags, const timespec* time, timespec*) {
  auto* run = running();
  if (run == nullptr) return 0;
  const auto length = rowlock::simulator::in_nanoseconds(*time);
  run->sleep_until((flags & TIMER_ABSTIME) != 0 ? run->true_time(length) : run->now() + length);
  return 0;
}

ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  if (auto* run = running()) {
    run->draw(bytes, size);
    return static_cast<ssize_t>(size);
  }
  return rowlock::simulator::native_syscall(SYS_getrandom, reinterpret_cast<long>(bytes),
                                            static_cast<long>(size), flags, 0, 0, 0);
}

pid_t getpid() noexcept {
  if (auto* run = running()) return run->pid();
  return static_cast<pid_t>(rowlock::simulator::native_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
}

// A process of a run exists until it is killed. rowlock calls this only to ask whether a process exists.
int kill(pid_t whom, int signal) noexcept {
  long result = -ESRCH;
  if (auto* run = running()) {
    if (run->is_alive(whom)) return 0;
  } else {
    result = rowlock::simulator::native_syscall(SYS_kill, whom, signal, 0, 0, 0, 0);
  }
  if (result == 0) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& one : a) one = va_arg(list, long);
  va_end(list);
  const long result =
      running() != nullptr && number == SYS_futex
          ? rowlock::simulator::call_futex(reinterpret_cast<const int*>(a[0]), static_cast<int>(a[1]),
                                           static_cast<int>(a[2]), reinterpret_cast<const timespec*>(a[3]))
          : rowlock::simulator::native_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// Replaces std::random_device, which seeds back-offs and would use the processor's random numbers.
unsigned seeded_random_device(void*) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned seeded_random_device(void*) {
  unsigned value = 0;
  ::getrandom(&value, sizeof value, 0);
  return value;
}

}  // extern "C"
#pragma GCC visibility pop
