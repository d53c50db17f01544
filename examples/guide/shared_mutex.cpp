#include <rowlock/rowlock.hpp>

#include <functional>
#include <string>

// Reads the catalog beside all others who read it. Who finds it old rebuilds it alone.
std::string read_catalog(rowlock::client db, const std::function<bool()>& is_old,
                         const std::function<void()>& rebuild, const std::function<std::string()>& read) {
  rowlock::shared_mutex catalog{db, "catalog"};
  {
    const rowlock::hold reading = catalog.acquire_shared();
    if (!is_old()) return read();
  }
  rowlock::hold hold = catalog.acquire();
  if (is_old()) rebuild();  // unless somebody did while this one waited
  catalog.downgrade(hold);  // a reader now: others read too, and no writer comes in between
  return read();
}
