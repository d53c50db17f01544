#include "store/waker.hpp"

#include <rowlock/error.hpp>

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace rowlock::store {

owned_fd made_fd(int fd, std::string_view what) {
  if (fd >= 0) return owned_fd{fd};
  const int why = errno;
  std::string text = "cannot make " + std::string{what} + ": " + std::strerror(why);
  if (why == EMFILE) text += "; raise the limit of open files (ulimit -n), or close some";
  throw error(errc::unreachable, text);
}

waker::waker() : fd_{made_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "an eventfd")} {}

void waker::end_wait() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(fd_.get(), &one, sizeof one);
}

void waker::clear() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
}

bool poll_until(std::span<pollfd> sources, std::chrono::steady_clock::time_point deadline) {
  using clock = std::chrono::steady_clock;
  for (;;) {
    const auto left = std::max(deadline - clock::now(), clock::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec timeout{static_cast<time_t>(seconds.count()), static_cast<long>((left - seconds).count())};
    const int ready = ::ppoll(sources.data(), sources.size(), &timeout, nullptr);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) throw error(errc::internal, std::string{"cannot poll: "} + std::strerror(errno));
  }
}

}  // namespace rowlock::store
