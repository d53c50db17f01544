#include "store/connect_watch.hpp"

#include <rowlock/error.hpp>

#include <utility>

namespace rowlock::store {

connect_watch::step::step(connect_watch& watch, std::function<void()> interrupt) : watch_(watch) {
  const std::lock_guard lock{watch_.mutex_};
  if (watch_.interrupted_) throw error(errc::unreachable, "the attempt to connect was interrupted");
  watch_.interrupt_ = std::move(interrupt);
}

connect_watch::step::~step() {
  const std::lock_guard lock{watch_.mutex_};
  watch_.interrupt_ = nullptr;
}

void connect_watch::interrupt() noexcept {
  const std::lock_guard lock{mutex_};
  interrupted_ = true;
  if (interrupt_) interrupt_();
}

bool connect_watch::is_interrupted() const {
  const std::lock_guard lock{mutex_};
  return interrupted_;
}

}  // namespace rowlock::store
