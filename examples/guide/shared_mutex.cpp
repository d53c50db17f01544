#include <rowlock/rowlock.hpp>

#include <functional>
#include <string>

// Reads the catalog at the same time as other readers. A reader that finds it outdated rebuilds it alone.
std::string read_catalog(rowlock::client db, const std::function<bool()>& is_old,
                         const std::function<void()>& rebuild, const std::function<std::string()>& read) {
  rowlock::shared_mutex catalog{db, "catalog"};
  {
    const rowlock::hold reading = catalog.acquire_shared();
    if (!is_old()) return read();
  }
  rowlock::hold hold = catalog.acquire();
  if (is_old()) rebuild();  // unless another process did while this one waited
  catalog.downgrade(hold);  // now a reader, like others; no writer gets in between
  return read();
}
