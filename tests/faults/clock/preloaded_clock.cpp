// This library is preloaded into a server, and adds to the system's clock what server_clock has written into a file.
// PostgreSQL reads the clock in signal handlers too, so nothing here allocates, locks or opens a file: the file is
// mapped when the server starts, and forked processes inherit the mapping. (libfaketime opens its file at each reading,
// which allocates.)
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

using seconds_ahead = std::atomic<std::int64_t>;
static_assert(seconds_ahead::is_always_lock_free);

const seconds_ahead* file = nullptr;

__attribute__((constructor)) void map_file() {
  const char* path = std::getenv("ROWLOCK_SERVER_CLOCK");
  const int opened = path ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (opened < 0) return;
  void* mapped = ::mmap(nullptr, sizeof(seconds_ahead), PROT_READ, MAP_SHARED, opened, 0);
  if (mapped != MAP_FAILED) file = static_cast<const seconds_ahead*>(mapped);
  ::close(opened);
}

std::int64_t ahead() noexcept {
  return file ? file->load(std::memory_order_relaxed) : 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t which, timespec* now) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, which, now));
  if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
  return result;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  *now = {exact.tv_sec, exact.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* also) noexcept {
  timespec exact{};
  clock_gettime(CLOCK_REALTIME, &exact);
  if (also) *also = exact.tv_sec;
  return exact.tv_sec;
}

// MariaDB waits until a time of the clock above, which the kernel does not know. None of its condition variables uses
// another clock.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  constexpr long second = 1'000'000'000;
  timespec shown{};
  timespec steady{};
  clock_gettime(CLOCK_REALTIME, &shown);
  clock_gettime(CLOCK_MONOTONIC, &steady);
  steady.tv_sec += until->tv_sec - shown.tv_sec;
  steady.tv_nsec += until->tv_nsec - shown.tv_nsec;
  if (steady.tv_nsec < 0) {
    steady.tv_nsec += second;
    --steady.tv_sec;
  } else if (steady.tv_nsec >= second) {
    steady.tv_nsec -= second;
    ++steady.tv_sec;
  }
  if (steady.tv_sec < 0) steady = {};
  return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &steady);
}

}  // extern "C"
#pragma GCC visibility pop
