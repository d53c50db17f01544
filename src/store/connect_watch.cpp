#include "store/connect_watch.hpp"

#include <rowlock/error.hpp>

#include <utility>

namespace rowlock::store {

connect_watch::step::step(connect_watch& watch, std::function<void()> interrupt) : watch_(watch) {
  watch_.begin(std::move(interrupt));
}

connect_watch::step::~step() {
  watch_.end();
}

void connect_watch::begin(std::function<void()> interrupt) {
  const model::annotated_lock lock{mutex_};
  if (interrupted_) throw error(errc::unreachable, "the attempt to connect was interrupted");
  interrupt_ = std::move(interrupt);
}

void connect_watch::end() {
  const model::annotated_lock lock{mutex_};
  interrupt_ = nullptr;
}

void connect_watch::interrupt() noexcept {
  const model::annotated_lock lock{mutex_};
  interrupted_ = true;
  if (interrupt_) interrupt_();
}

bool connect_watch::is_interrupted() const {
  const model::annotated_lock lock{mutex_};
  return interrupted_;
}

}  // namespace rowlock::store
