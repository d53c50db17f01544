#include "client/herald.hpp"

namespace rowlock::client_layer {

void herald::lose(const hold_ptr& hold, loss reason) {
  holds_.remove(*hold);
  if (!hold->lose(reason)) return;
  shared_.count.lost.fetch_add(1);
  shared_.log(log_level::warning, "hold {} of \"{}\" is lost: {}", hold->id().to_string(), hold->name(),
              to_string(reason));
  tell([hold] { hold->tell(); });
}

void herald::ask(const hold_ptr& hold, const std::string& reason, instant until) {
  if (!hold->ask_for(reason, until)) return;
  shared_.log(log_level::info, "hold {} of \"{}\" is asked to be given up: {}", hold->id().to_string(),
              hold->name(), reason);
  tell([hold] { hold->tell_request(); });
}

void herald::tell(std::function<void()> news) {
  {
    const std::lock_guard lock{mutex_};
    if (!stopped_) {
      news_.push_back(std::move(news));
      changed_.notify_one();
      return;
    }
  }
  news();
}

void herald::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [&] { return stopped_ || !news_.empty(); });
    if (news_.empty()) return;
    {
      const auto news = std::move(news_.front());
      news_.pop_front();
      lock.unlock();
      news();
    }
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
