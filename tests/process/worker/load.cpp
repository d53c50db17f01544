#include "load.hpp"

#include <rowlock/error.hpp>

namespace rowlock::test {

load::load(load_plan plan) : plan_{std::move(plan)} {
  for (int i = 0; i < plan_.threads; ++i) tasks_.push_back(make_task(plan_, counts_, i));
  for (auto& one : tasks_) threads_.emplace_back([this, &one] { run(*one); });
}

load::~load() {
  halt();
  join();
}

void load::join() {
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void load::run(task& work) {
  const auto stop = halt_.get_token();
  for (int round = 0; !stop.stop_requested() && (plan_.rounds == 0 || round < plan_.rounds); ++round) {
    try {
      work.run(round, stop);
    } catch (const error& refusal) {
      if (refusal.code() == errc::cancelled) continue;
      // A busy machine may delay a statement for longer than a short ttl allows.
      refusal.transient() ? void(++counts_.result_without_answer) : counts_.fail(refusal.what());
    }
  }
}

}  // namespace rowlock::test
