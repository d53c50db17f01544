// What this process knows of the holds that it has left to HTTP clients, so that most releases need not look for them.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/http_holds.hpp"

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace rowlock::serve {

// What this class knows is a hint: another process may have released the hold meanwhile. An expired hold, and the
// oldest one of too many, is forgotten. Any thread may call it.
class recent_holds {
 public:
  using clock = std::chrono::steady_clock;

  explicit recent_holds(std::size_t most) : most_{most} {}

  // text: of hold::transfer. If memory runs out, nothing is added.
  void add(const http_hold_key& key, const std::string& text, clock::time_point expires) noexcept;
  // Returns the text of the key's hold, and forgets it. Empty: it is not known, or the hold has expired.
  std::optional<std::string> take(const http_hold_key& key, clock::time_point now);

 private:
  struct entry {
    http_hold_key key;
    std::string text;
    clock::time_point expires;
  };
  using place = std::list<entry>::iterator;
  void erase(std::map<http_hold_key, place>::iterator one) ROWLOCK_REQUIRES(mutex_);

  const std::size_t most_;
  model::annotated_mutex mutex_;
  std::list<entry> oldest_first_ ROWLOCK_GUARDED_BY(mutex_);
  std::map<http_hold_key, place> by_key_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::serve
