#include "client/loss_notifier.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

namespace {

// How many of the holds that are lost together the log names. It counts the rest.
constexpr std::size_t logged_by_name = 100;

}  // namespace

void loss_notifier::lose(std::vector<hold_ptr> holds, loss reason) {
  auto lost = std::make_shared<std::vector<hold_ptr>>(holds);
  std::erase_if(*lost, [&](const hold_ptr& hold) { return !hold->lose(reason); });
  context_.count.lost.fetch_add(lost->size());
  if (!lost->empty()) {
    tell([this, lost, reason] {
      for (const auto& hold : *lost) hold->tell();
      log_lost(*lost, reason);
    });
  }
  // Done last, because removing many holds takes time, and no notification may wait for it.
  holds_.remove(holds);
}

void loss_notifier::log_lost(const std::vector<hold_ptr>& holds, loss reason) const {
  const std::size_t named = std::min(holds.size(), logged_by_name);
  for (std::size_t i = 0; i < named; ++i) {
    context_.log(log_level::warning, "hold {} of \"{}\" is lost: {}", holds[i]->id().to_string(),
                 holds[i]->name(), to_string(reason));
  }
  if (holds.size() > named) {
    context_.log(log_level::warning, "{} more holds are lost: {}", holds.size() - named, to_string(reason));
  }
}

void loss_notifier::notify_request(const hold_ptr& hold, const std::string& reason, instant until) {
  if (!hold->request_release(reason, until)) return;
  tell([hold] { hold->notify_request(); });
  context_.log(log_level::info, "somebody requests the release of hold {} of \"{}\": {}",
               hold->id().to_string(), hold->name(), reason);
}

void loss_notifier::tell(std::function<void()> news) {
  {
    const model::annotated_lock lock{mutex_};
    if (!stopped_) {
      changes_.push_back(std::move(news));
      changed_.notify_one();
      return;
    }
  }
  news();
}

void loss_notifier::run() {
  model::annotated_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [&]() ROWLOCK_REQUIRES(mutex_) { return stopped_ || !changes_.empty(); });
    if (changes_.empty()) return;
    {
      const auto news = std::move(changes_.front());
      changes_.pop_front();
      lock.unlock();
      news();
    }
    lock.lock();
  }
}

void loss_notifier::stop() {
  {
    const model::annotated_lock lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_one();
}

}  // namespace rowlock::client_layer
