#include "fault.hpp"

namespace rowlock::test {

namespace {

const std::vector<std::string> everywhere{"postgres", "mariadb", "mysql", "sqlite"};

std::int64_t kill_client(scene& now) {
  return now.workers.kill_holder(now.random);
}

std::int64_t stop_client(scene& now) {
  return now.workers.stop_holder(now.random, now.any(now.ttl * 3 / 2, now.ttl * 5 / 2));
}

}  // namespace

std::vector<fault> client_faults() {
  return {
      {"client-killed", "SIGKILL of a client that holds a lock", everywhere, false, kill_client},
      {"client-stopped", "SIGSTOP of a client that holds a lock, for longer than its ttl, and SIGCONT",
       everywhere, false, stop_client},
  };
}

}  // namespace rowlock::test
