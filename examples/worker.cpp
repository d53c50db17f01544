// One of several processes that want the same lock. scripts/quickstart runs a few of them.
//
//   worker URL LOCK NAME [TTL_MS]          waits for LOCK, writes a line while it holds it, waits for the end of
//                                          standard input, writes a second line and releases LOCK
//   worker URL journal create|print|drop
#include "journal.hpp"

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void say(const std::string& name, const std::string& what) {
  std::printf("    %-5s %s\n", name.c_str(), what.c_str());
  std::fflush(stdout);
}

int work(const std::string& url, const std::string& lock, const std::string& name,
         std::chrono::milliseconds ttl) {
  rowlock::options options;
  options.application = name;
  options.ttl = ttl;
  options.statement_timeout = ttl / 3;
  if (const char* prefix = std::getenv("ROWLOCK_PREFIX")) options.prefix = prefix;
  rowlock::client db = rowlock::connect(url, options);
  auto notes = journal::open(url);

  rowlock::mutex mutex{db, lock};
  say(name, "wants the lock");
  rowlock::hold hold = mutex.acquire();
  say(name, "HOLDS the lock, token " + hold.token().to_string());
  if (!notes->write(hold, name, "begin")) return 1;
  while (std::getchar() != EOF) {
  }

  // The process may have been stopped, and may have lost the hold without noticing. So the transaction that writes also
  // asks the database.
  if (!notes->write(hold, name, "end")) {
    say(name, "may not write any more: the lock was given to somebody else");
    return 3;
  }
  bool released = hold.release() == rowlock::release_result::released;
  say(name, released ? "released the lock" : "lost the lock before its release");
  return released ? 0 : 1;
}

int keep_journal(const std::string& url, const std::string& verb) {
  auto notes = journal::open(url);
  if (verb == "create") notes->create();
  if (verb == "drop") notes->drop();
  if (verb == "print") {
    for (const std::string& line : notes->lines()) std::puts(line.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s URL LOCK NAME [TTL_MS] | URL journal create|print|drop\n", argv[0]);
    return 64;
  }
  try {
    if (std::strcmp(argv[2], "journal") == 0) return keep_journal(argv[1], argv[3]);
    return work(argv[1], argv[2], argv[3], std::chrono::milliseconds{argc > 4 ? std::atoi(argv[4]) : 30'000});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", argv[3], failure.what());
    return 70;
  }
}
