#include "visit_task.hpp"

#include <rowlock/error.hpp>

#include <unistd.h>

#include <chrono>
#include <thread>

namespace rowlock::test {

visit_task::visit_task(const load_plan& plan, tally& counts, int index)
    : task{plan, counts}, random_{static_cast<unsigned>(::getpid() * 64 + index)} {}

void visit_task::run(int, std::stop_token stop) {
  std::int64_t asked_after = 0;
  if (!tell([&](witness& log) { asked_after = log.latest(); })) return;
  enter(stop);
  ++counts().granted;
  try {
    stay(asked_after);
  } catch (const error& refusal) {
    if (refusal.transient()) {
      ++counts().result_without_answer;
    } else if (refusal.code() != errc::hold_lost || is_valid()) {
      ++counts().wrong;
    }
  }
  leave();
}

bool visit_task::tell(const std::function<void(witness&)>& words) {
  return speak([&](sql_session& session) {
    witness log{session, plan().databases.front().prefix};
    words(log);
  });
}

bool visit_task::weigh(const std::vector<visit>& visits) {
  bool told = false;
  tell([&](witness& log) { told = log.weigh(visits, [this] { return is_valid(); }); });
  return told;
}

void visit_task::stay(std::int64_t asked_after) {
  const auto valid = [this] { return is_valid(); };
  bool came = false;
  tell([&](witness& log) { came = log.come(holds(), asked_after, valid); });
  if (!came) return;
  ++counts().written;
  const auto left = [&] { tell([&](witness& log) { log.leave(holds(), valid); }); };
  try {
    work();
  } catch (const error&) {
    // On a busy machine the database did not answer in time. The visit ends all the same, before the release.
    left();
    throw;
  }
  // The visit is long enough that others would be seen inside, and that a kill can happen in it.
  std::this_thread::sleep_for(std::chrono::microseconds{any(0, 10'000)});
  left();
}

}  // namespace rowlock::test
