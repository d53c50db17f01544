#include "ledger.hpp"
#include "task.hpp"

#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>

#include <deque>

namespace rowlock::test {

namespace {

// Acquires, adds one to what only the lock protects, and releases.
class counter_task final : public task {
 public:
  counter_task(const load_plan& plan, tally& counts, int index) : task{plan, counts}, index_{index} {
    for (const auto& name : plan.names) locks_.emplace_back(plan.databases.front().db, name);
  }

  void run(int round, std::stop_token stop) override {
    auto held = locks_[static_cast<std::size_t>(index_ + round) % locks_.size()].acquire({.stop = stop});
    ++counts().granted;
    try {
      const bool written = speak([&](sql_session& session) {
        ledger book{session, plan().databases.front().prefix};
        if (plan().mode == "watching") book.note_queue(held.name());
        plan().mode == "guarded" ? book.add_guarded(held) : book.add_unguarded(held);
      });
      if (written) ++counts().written;
    } catch (const error& refusal) {
      // The holder must know that its hold is lost before another request can be granted. So the guard must not be the
      // first to know.
      if (refusal.code() == errc::hold_lost && held.valid()) ++counts().unaware;
    }
    count(held.release());
  }

 private:
  const int index_;
  std::deque<mutex> locks_;
};

}  // namespace

std::unique_ptr<task> make_counter_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<counter_task>(plan, counts, index);
}

}  // namespace rowlock::test
