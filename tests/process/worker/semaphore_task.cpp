#include "visit_task.hpp"

#include <rowlock/counting_semaphore.hpp>

namespace rowlock::test {

namespace {

// Uses a semaphore, whose name and number of permits the words give.
class semaphore_task final : public one_hold_task {
 public:
  semaphore_task(const load_plan& plan, tally& counts, int index)
      : one_hold_task{plan, counts, index}, lock_{db(), plan.names.at(0), std::stoll(plan.names.at(1))} {}

 private:
  void enter(const std::stop_token& stop) override {
    if (any(1, 4) == 1) {
      if (auto all = lock_.drain()) {
        held_ = std::move(all);
        return;
      }
    }
    held_ = lock_.acquire(any(1, lock_.capacity()), {.stop = stop});
  }

  counting_semaphore lock_;
};

}  // namespace

std::unique_ptr<task> make_semaphore_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<semaphore_task>(plan, counts, index);
}

}  // namespace rowlock::test
