#include "visit_task.hpp"

#include <rowlock/shared_mutex.hpp>

namespace rowlock::test {

namespace {

class shared_mutex_task final : public one_hold_task {
 public:
  shared_mutex_task(const load_plan& plan, tally& counts, int index)
      : one_hold_task{plan, counts, index}, lock_{db(), plan.names.at(0)} {}

 private:
  void enter(const std::stop_token& stop) override {
    held_ = any(1, 3) == 1 ? lock_.acquire({.stop = stop}) : lock_.acquire_shared({.stop = stop});
  }

  shared_mutex lock_;
};

}  // namespace

std::unique_ptr<task> make_shared_mutex_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<shared_mutex_task>(plan, counts, index);
}

}  // namespace rowlock::test
