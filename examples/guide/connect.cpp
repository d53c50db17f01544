#include <rowlock/rowlock.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;

// One client per process; copies of it share it. Throws when the tables are missing or the database is read-only.
rowlock::client connect_to_locks(const std::string& url) {
  rowlock::options settings;
  settings.application = "billing";  // what `rowlock list` shows
  settings.ttl = 10s;                // the locks of a process that vanishes are free after this time
  return rowlock::connect(url, settings);
}
