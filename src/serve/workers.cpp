#include "serve/workers.hpp"

#include <exception>
#include <utility>

namespace rowlock::serve {

workers::workers(std::size_t threads, std::size_t most_waiting) : most_waiting_{most_waiting} {
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  } catch (...) {
    end();
    throw;
  }
}

workers::~workers() {
  end();
}

void workers::end() {
  {
    const model::annotated_lock lock{mutex_};
    is_over_ = true;
  }
  changed_.notify_all();
}

bool workers::post(std::function<void()> job) {
  {
    const model::annotated_lock lock{mutex_};
    if (is_over_ || waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void workers::run() {
  for (;;) {
    std::function<void()> job;
    {
      model::annotated_lock lock{mutex_};
      changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return is_over_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    try {
      job();
    } catch (const std::exception&) {
      // A lack of memory ends the requests of this job, not the process: their replies say so when they are destroyed.
    }
  }
}

}  // namespace rowlock::serve
