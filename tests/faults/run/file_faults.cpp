#include "fault.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

namespace rowlock::test {

namespace {

// Another program has the file's only write lock.
std::int64_t lock_file(scene& now) {
  auto other = now.where.session();
  begin_step("take the file's write lock");
  other->begin();
  pause(now.any(now.ttl / 2, now.ttl * 2));
  other->run("ROLLBACK");
  return history_recorder::now();
}

}  // namespace

std::vector<fault> file_faults() {
  return {
      {"file-locked",
       "another process holds the file's write lock for up to twice the ttl",
       {"sqlite"},
       false,
       lock_file},
  };
}

}  // namespace rowlock::test
