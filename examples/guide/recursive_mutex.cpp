#include <rowlock/rowlock.hpp>

#include <mutex>

void add(rowlock::recursive_mutex& stock, int& count, int more) {
  const std::scoped_lock locked{stock};
  count += more;
}

// Each function takes the lock itself, and they may call each other.
void exchange(rowlock::recursive_mutex& stock, int& count, int out, int in) {
  const std::scoped_lock locked{stock};  // a round trip to the database
  add(stock, count, -out);               // this thread already holds it: no round trip
  add(stock, count, in);
}
