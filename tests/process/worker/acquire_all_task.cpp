#include "visit_task.hpp"

#include <rowlock/acquire_all.hpp>

#include <algorithm>

namespace rowlock::test {

namespace {

// Acquires two or more of the names in any order, and sometimes only one of them.
class acquire_all_task final : public visit_task {
 public:
  acquire_all_task(const load_plan& plan, tally& counts, int index) : visit_task{plan, counts, index} {
    for (const auto& name : plan.names) locks_.push_back(std::make_unique<mutex>(db(), name));
  }

 private:
  void enter(const std::stop_token& stop) override {
    std::shuffle(locks_.begin(), locks_.end(), random());
    const auto count = std::max<std::int64_t>(any(0, static_cast<std::int64_t>(locks_.size())), 1);
    std::vector<wanted> all;
    for (std::int64_t i = 0; i < count; ++i) all.emplace_back(*locks_[static_cast<std::size_t>(i)]);
    held_ = acquire_all(all, {.stop = stop});
  }
  bool is_valid() const override { return held_.valid(); }
  std::vector<visit> holds() const override {
    std::vector<visit> all;
    for (const auto& one : held_)
      all.push_back({one.name(), one.id().to_string(), one.token().value(), one.weight()});
    return all;
  }
  void leave() override {
    for (const auto result : held_.release()) count(result);
  }

  std::vector<std::unique_ptr<mutex>> locks_;
  hold_set held_;
};

}  // namespace

std::unique_ptr<task> make_acquire_all_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<acquire_all_task>(plan, counts, index);
}

}  // namespace rowlock::test
