#include "visit_task.hpp"

#include <rowlock/shared_mutex.hpp>

#include <chrono>
#include <thread>

namespace rowlock::test {

namespace {

// Writers become readers, and readers writers, while they are inside.
class conversion_task final : public one_hold_task {
 public:
  conversion_task(const load_plan& plan, tally& counts, int index)
      : one_hold_task{plan, counts, index}, lock_{db(), plan.names.at(0)} {}

 private:
  bool tell_weight(std::int64_t weight) {
    auto changed = holds();
    changed.front().weight = weight;
    return weigh(changed);
  }

  void enter(const std::stop_token& stop) override {
    // Without this pause somebody would always wait, and no reader could become a writer.
    std::this_thread::sleep_for(std::chrono::microseconds{any(0, 150'000)});
    held_ = any(1, 2) == 1 ? lock_.acquire({.stop = stop}) : lock_.acquire_shared({.stop = stop});
  }

  void work() override {
    for (auto left = any(1, 3); left > 0; --left) {
      if (held_.weight() == 1) {
        if (lock_.try_upgrade(held_)) tell_weight(held_.weight());
      } else {
        // The witness is told before the downgrade: others may join before this process knows that it is done.
        if (tell_weight(1)) lock_.downgrade(held_);
      }
    }
  }

  shared_mutex lock_;
};

}  // namespace

std::unique_ptr<task> make_conversion_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<conversion_task>(plan, counts, index);
}

}  // namespace rowlock::test
