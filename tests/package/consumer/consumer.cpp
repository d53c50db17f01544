// Uses what is installed and nothing else: migrates a file, acquires a lock in it, and writes with the lock's guard.
#include <rowlock/rowlock.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    rowlock::migrator{argv[1]}.up();
    rowlock::client db = rowlock::connect(argv[1]);
    rowlock::mutex mutex{db, "consumer"};
    rowlock::hold hold = mutex.acquire();
    std::printf("rowlock %s, token %lld, guard of %zu bytes\n", ROWLOCK_VERSION,
                static_cast<long long>(hold.token().value()), hold.guard_statement().sql.size());
    return hold.release() == rowlock::release_result::released ? 0 : 1;
  } catch (const rowlock::error& error) {
    std::fprintf(stderr, "%s: %s\n", rowlock::to_string(error.kind()), error.what());
    return 70;
  }
}
