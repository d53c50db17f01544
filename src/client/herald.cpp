#include "client/herald.hpp"

namespace rowlock::client_layer {

void herald::lose(const hold_ptr& hold, loss reason) {
  holds_.remove(*hold);
  if (!hold->lose(reason)) return;
  shared_.count.lost.fetch_add(1);
  shared_.log(log_level::warning, "hold {} of \"{}\" is lost: {}", hold->id().to_string(), hold->name(),
              to_string(reason));
  {
    const std::lock_guard lock{mutex_};
    if (!stopped_) {
      lost_.push_back(hold);
      changed_.notify_one();
      return;
    }
  }
  hold->tell();
}

void herald::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [&] { return stopped_ || !lost_.empty(); });
    if (lost_.empty()) return;
    const auto hold = std::move(lost_.front());
    lost_.pop_front();
    lock.unlock();
    hold->tell();
    lock.lock();
  }
}

void herald::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_one();
}

}  // namespace rowlock::client_layer
