#include "serve/recent_holds.hpp"

#include <utility>

namespace rowlock::serve {

void recent_holds::add(const http_hold_key& key, std::string text) {
  const model::annotated_lock lock{mutex_};
  if (const auto known = texts_.find(key); known != texts_.end()) erase(known);
  if (texts_.size() >= most_) erase(texts_.find(oldest_first_.front()));
  oldest_first_.push_back(key);
  texts_.emplace(key, entry{std::move(text), std::prev(oldest_first_.end())});
}

std::optional<std::string> recent_holds::take(const http_hold_key& key) {
  const model::annotated_lock lock{mutex_};
  const auto known = texts_.find(key);
  if (known == texts_.end()) return {};
  std::optional<std::string> text{std::move(known->second.text)};
  erase(known);
  return text;
}

void recent_holds::erase(std::map<http_hold_key, entry>::iterator one) {
  oldest_first_.erase(one->second.age);
  texts_.erase(one);
}

}  // namespace rowlock::serve
