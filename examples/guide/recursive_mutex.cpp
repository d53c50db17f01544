#include <rowlock/rowlock.hpp>

#include <mutex>

void add(rowlock::recursive_mutex& stock, int& count, int more) {
  const std::scoped_lock locked{stock};
  count += more;
}

// Each function takes the lock itself, and they may call each other.
void exchange(rowlock::recursive_mutex& stock, int& count, int out, int in) {
  const std::scoped_lock locked{stock};  // asks the database
  add(stock, count, -out);               // this thread holds it already: no statement
  add(stock, count, in);
}
