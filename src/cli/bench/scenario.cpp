#include "cli/bench/scenario.hpp"

namespace rowlock::cli::bench {

const std::vector<scenario>& scenarios() {
  static const std::vector<scenario> known = {
      {"uncontended", "acquire and release by one thread", uncontended},
      {"parallel", "many threads of one process, each with a name of its own", parallel},
      {"all", "2, 8 and 32 names acquired and released together", all},
      {"handover", "processes pass one name around", handover},
      {"handover-local", "threads of one process pass one name around", handover_local},
      {"waiters", "what 1,000 waiting acquires cost", waiters},
      {"held", "rows that a renewal writes with 10,000 locks held", held},
  };
  return known;
}

}  // namespace rowlock::cli::bench
