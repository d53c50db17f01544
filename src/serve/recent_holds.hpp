// What this process knows of the holds that it has left to HTTP clients, so that most releases need not look for them.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/http_holds.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace rowlock::serve {

// A hint: another process may have released or extended the hold meanwhile, and this one forgets the oldest. Any thread
// may call it.
class recent_holds {
 public:
  explicit recent_holds(std::size_t most) : most_{most} {}

  // text: of hold::transfer.
  void add(const http_hold_key& key, std::string text);
  // Forgets it, too.
  std::optional<std::string> take(const http_hold_key& key);

 private:
  struct entry {
    std::string text;
    std::list<http_hold_key>::iterator age;
  };
  void erase(std::map<http_hold_key, entry>::iterator one) ROWLOCK_REQUIRES(mutex_);

  const std::size_t most_;
  model::annotated_mutex mutex_;
  std::map<http_hold_key, entry> texts_ ROWLOCK_GUARDED_BY(mutex_);
  std::list<http_hold_key> oldest_first_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::serve
