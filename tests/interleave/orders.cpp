#include "orders.hpp"

#include <algorithm>

namespace rowlock::test {

random_order::random_order(std::uint64_t seed) : random_{seed} {
  patient_ = seed % 3 != 2;
  stays_ = seed > 8 && seed % 2 == 1;
}

std::size_t random_order::pick(std::size_t n) {
  orders_ *= static_cast<double>(n);
  const bool stay = stays_ && last_ < n && random_() % 8 != 0;
  if (!stay) last_ = random_() % n;
  return last_;
}

std::size_t next_order::pick(std::size_t n) {
  if (at_ == choices_.size()) choices_.push_back({0, n});
  auto& here = choices_[at_++];
  // A server that was faster or slower than before may offer another choice.
  here.of = std::max(here.of, here.picked + 1);
  return std::min(here.picked, n - 1);
}

bool next_order::advance() {
  choices_.resize(at_);
  at_ = 0;
  while (!choices_.empty() && choices_.back().picked + 1 >= choices_.back().of) choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().picked;
  return true;
}

}  // namespace rowlock::test
