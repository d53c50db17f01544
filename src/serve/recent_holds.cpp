#include "serve/recent_holds.hpp"

#include <iterator>
#include <new>
#include <utility>

namespace rowlock::serve {

void recent_holds::add(const http_hold_key& key, const std::string& text, clock::time_point expires) noexcept
    try {
  std::list<entry> made{{key, text, expires}};
  const model::annotated_lock lock{mutex_};
  const auto [known, is_new] = by_key_.try_emplace(key, made.begin());
  if (!is_new) oldest_first_.erase(std::exchange(known->second, made.begin()));
  oldest_first_.splice(oldest_first_.end(), made);
  if (by_key_.size() > most_) erase(by_key_.find(oldest_first_.front().key));
} catch (const std::bad_alloc&) {
}

std::optional<std::string> recent_holds::take(const http_hold_key& key, clock::time_point now) {
  const model::annotated_lock lock{mutex_};
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return {};
  std::optional<std::string> text;
  if (now < known->second->expires) text = std::move(known->second->text);
  erase(known);
  return text;
}

void recent_holds::erase(std::map<http_hold_key, place>::iterator one) {
  oldest_first_.erase(one->second);
  by_key_.erase(one);
}

}  // namespace rowlock::serve
