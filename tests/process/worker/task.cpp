#include "task.hpp"

#include <rowlock/error.hpp>

#include <map>
#include <stdexcept>

namespace rowlock::test {

bool task::speak(const std::function<void(sql_session&)>& words, std::size_t database) {
  auto& session = sessions_[database];
  while (true) {
    try {
      if (!session) session = sql_session::open(plan_.databases[database].url);
      words(*session);
      return true;
    } catch (const error& refusal) {
      if (refusal.code() != errc::hold_lost) session.reset();
      throw;
    } catch (const std::exception& failure) {
      if (session && session->was_rolled_back(failure)) {
        ++counts_.repeated;
        continue;
      }
      counts_.broke(failure.what());
      session.reset();
      return false;
    }
  }
}

void task::count(release_result result) {
  if (result == release_result::lost) ++counts_.lost;
  if (result == release_result::unknown) ++counts_.unreleased;
  if (result == release_result::pending) ++counts_.pending;
}

std::unique_ptr<task> make_task(const load_plan& plan, tally& counts, int index) {
  static const std::map<std::string, task_maker*> makers{
      {"guarded", make_counter_task},       {"unguarded", make_counter_task},
      {"watching", make_counter_task},      {"shared_mutex", make_shared_mutex_task},
      {"conversion", make_conversion_task}, {"semaphore", make_semaphore_task},
      {"election", make_election_task},     {"acquire_all", make_acquire_all_task},
      {"count_down", make_count_down_task}, {"await_latch", make_latch_task},
      {"barrier", make_barrier_task},       {"quorum", make_quorum_task},
  };
  const auto found = makers.find(plan.mode);
  if (found == makers.end()) throw std::invalid_argument("no such load: " + plan.mode);
  return found->second(plan, counts, index);
}

}  // namespace rowlock::test
