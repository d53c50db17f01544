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

std::int64_t fill_disk(scene& now) {
  begin_step("fill the disk");
  now.where.disk().fill();
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  now.where.disk().make_room();
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
      {"disk-full",
       "the disk of the file is full for a while (needs root)",
       {"sqlite"},
       false,
       fill_disk,
       {"database"},
       equipment::small_disk},
  };
}

}  // namespace rowlock::test
