#include "cli/open_clients.hpp"

#include "model/annotated_mutex.hpp"

#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::cli {

namespace {

// Never destroyed: a close may outlast main().
struct opened_clients {
  model::annotated_mutex mutex;
  std::condition_variable changed;
  std::vector<client> open ROWLOCK_GUARDED_BY(mutex);
  bool are_closed ROWLOCK_GUARDED_BY(mutex) = false;
};

opened_clients& all_opened() {
  static auto* const all = new opened_clients;
  return *all;
}

void close_all(opened_clients& all) {
  model::annotated_lock lock{all.mutex};
  auto clients = std::exchange(all.open, {});
  lock.unlock();
  for (auto& one : clients) one.close();
  lock.lock();
  all.are_closed = true;
  all.changed.notify_all();
}

}  // namespace

client close_at_the_end(client opened) {
  auto& all = all_opened();
  const model::annotated_lock lock{all.mutex};
  all.open.push_back(opened);
  return opened;
}

void close_clients(std::chrono::milliseconds limit) {
  auto& all = all_opened();
  {
    const model::annotated_lock lock{all.mutex};
    if (all.open.empty()) return;
    all.are_closed = false;
  }
  try {
    std::thread{[&all] { close_all(all); }}.detach();
  } catch (const std::system_error&) {
    close_all(all);
  }
  model::annotated_lock lock{all.mutex};
  all.changed.wait_for(lock, limit, [&]() ROWLOCK_REQUIRES(all.mutex) { return all.are_closed; });
}

}  // namespace rowlock::cli
