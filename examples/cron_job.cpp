// A job that cron starts on every machine and that only one of them runs.
//
//   cron_job sqlite:locks.db
//   cron_job postgresql://app@db/shop
//
// `rowlock run nightly-report --no-wait -- COMMAND` does the same for any other program.
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>

using namespace std::chrono_literals;

namespace {

// Returns false when the lock was lost before the work was done.
bool build_report(const rowlock::hold& hold) {
  std::mutex mutex;
  std::condition_variable_any step_done;
  for (int step = 1; step <= 5; ++step) {
    std::unique_lock lock{mutex};
    // A placeholder for real work. The work ends early if the lock is lost, because another machine may then begin.
    step_done.wait_for(lock, hold.stop_token(), 200ms, [] { return false; });
    if (!hold) return false;
    std::printf("step %d of 5 done\n", step);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s URL\n", argv[0]);
    return 64;
  }
  try {
    rowlock::options options;
    options.application = "nightly report";
    rowlock::client db = rowlock::connect(argv[1], options);
    rowlock::mutex nightly{db, "reports/nightly"};

    // Busy is a value: another machine does the job, so there is nothing left to do.
    auto hold = nightly.try_acquire();
    if (!hold) {
      std::puts("another machine is at it");
      return 0;
    }
    if (!build_report(hold)) {
      std::fprintf(stderr, "the lock was lost: %s\n", rowlock::to_string(hold.loss()));
      return 1;
    }
    return 0;
  } catch (const rowlock::error& error) {
    std::fprintf(stderr, "%s: %s\n", rowlock::to_string(error.kind()), error.what());
    return error.transient() ? 75 : 70;
  }
}
