// /readyz: whether the database can be used now.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/database.hpp"
#include "serve/http.hpp"
#include "serve/workers.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace rowlock::serve {

// Asks the database at most once a second, and never twice at the same time, however many ask. Any thread may call it.
class readiness {
 public:
  // db: must outlive this object. pool: must exist while answer() may be called. It must be destroyed before this
  // object, which its jobs use.
  readiness(database& db, workers& pool) : db_{db}, pool_{pool} {}

  // Answers with 200, or with 503 and the reason, as soon as the database has answered. If a question to the database
  // has got no answer for two seconds already, answers with 503 at once. Only clients with the role `read` get the text
  // of an error.
  void answer(const request& from, const reply& to);

 private:
  using clock = std::chrono::steady_clock;
  struct finding {
    std::optional<error> problem;
    clock::time_point at;
  };
  struct waiting {
    reply to;
    bool sees_text = false;
  };

  void publish(std::optional<error> problem);
  static response response_of(const finding& found, bool sees_text);

  database& db_;
  workers& pool_;
  model::annotated_mutex mutex_;
  std::optional<finding> latest_ ROWLOCK_GUARDED_BY(mutex_);
  std::optional<clock::time_point> checking_since_ ROWLOCK_GUARDED_BY(mutex_);
  std::vector<waiting> waiting_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::serve
