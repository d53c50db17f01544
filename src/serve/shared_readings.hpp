// Readings of the database that several clients share.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/http.hpp"
#include "serve/workers.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rowlock::serve {

// Any thread may call it.
class shared_readings {
 public:
  // pool: must exist while answer() may be called. It must be destroyed before this object, which its jobs use, and
  // before the server, to which the replies of its jobs go.
  explicit shared_readings(workers& pool) : pool_{pool} {}

  // Answers with what `read` returns for this key, or with the error that it throws. It runs on the pool, never twice at
  // the same time for a key, and not again before the result is older than valid_for. An error is valid for a second.
  void answer(const std::string& key, std::chrono::milliseconds valid_for, std::function<response()> read,
              const reply& to);

 private:
  using clock = std::chrono::steady_clock;
  struct entry {
    response latest{};
    clock::time_point valid_until{};
    bool is_reading = false;
    std::vector<reply> waiting{};
  };

  void publish(const std::string& key, const response& found, clock::time_point valid_until);
  void forget_old_locked(clock::time_point now) ROWLOCK_REQUIRES(mutex_);

  workers& pool_;
  model::annotated_mutex mutex_;
  std::map<std::string, entry> entries_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::serve
