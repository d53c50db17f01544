#include <rowlock/rowlock.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;

// One client a process; its copies share it. Throws when the tables are missing or the database is read-only.
rowlock::client connect_to_locks(const std::string& url) {
  rowlock::options settings;
  settings.application = "billing";  // what `rowlock list` shows
  settings.ttl = 10s;                // a process that vanishes is succeeded after so long at the most
  return rowlock::connect(url, settings);
}
