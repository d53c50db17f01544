// All locks as they were a moment ago, for every viewer of the dashboard, and the stream that says when they changed.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/database.hpp"
#include "serve/http.hpp"
#include "serve/workers.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace rowlock::serve {

struct board_state {
  std::vector<lock_info> locks{};    // by name; without what did not fit
  bool is_cut = false;               // there are more locks than one reading reads
  std::optional<error> problem{};    // of the latest reading; the rest is then older
  std::uint64_t version = 0;         // a new number whenever a lock, a holder or a queue has changed
  std::chrono::milliseconds next{};  // when to expect the next state, at the earliest
};

// Reads the locks while somebody wants them: once a second at most, less often if that takes long, and never twice at
// the same time, however many want them. Any thread may call it.
class lock_board {
 public:
  using state = std::shared_ptr<const board_state>;
  using use = std::function<void(const state&)>;

  // db: must outlive this object. pool: must exist until stop() has returned. It must be destroyed before this object,
  // which its jobs use.
  lock_board(database& db, workers& pool);

  // Calls `answer` with the latest state, at once or when that has been read. `answer` must neither wait nor throw.
  void ask(use answer);
  // Begins a stream of server-sent events, one for each reading.
  void subscribe(const request& from, const reply& to);
  // Nothing is read after that. Requires: nobody calls ask().
  void stop();

 private:
  using clock = std::chrono::steady_clock;
  // Ends the stream as soon as the server or its client wants to end.
  struct subscriber {
    explicit subscriber(const reply& one) : to{one}, ends{one.over(), [one] { one.end(); }} {}

    reply to;
    std::stop_callback<std::function<void()>> ends;
  };

  void run(const std::stop_token& stop);
  void read();
  std::vector<lock_info> read_locks(bool& is_cut);
  void publish(board_state found);

  database& db_;
  workers& pool_;
  model::annotated_mutex mutex_;
  state latest_ ROWLOCK_GUARDED_BY(mutex_) = std::make_shared<const board_state>();
  clock::time_point valid_until_ ROWLOCK_GUARDED_BY(mutex_){};
  bool is_reading_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::vector<use> waiting_ ROWLOCK_GUARDED_BY(mutex_);
  model::annotated_mutex stream_mutex_;  // if both mutexes are needed, mutex_ is locked first
  std::vector<std::unique_ptr<subscriber>> subscribers_ ROWLOCK_GUARDED_BY(stream_mutex_);
  std::jthread thread_;  // the last member, because the thread uses the others
};

}  // namespace rowlock::serve
