// The stores that are linked into this program. The core knows none by name: each store is a library of its own, and
// a program loads only the drivers of the stores that it links.
#pragma once

#include "model/for_stores.hpp"
#include "store/backends.hpp"
#include "store/check.hpp"
#include "store/embedded.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::store {

struct linked_store {
  std::string_view dialect;  // postgres, mysql, sqlite
  std::unique_ptr<database> (*open)(const std::string& url, const store_options& options) = nullptr;
  std::unique_ptr<migration_session> (*open_for_migration)(const std::string& url,
                                                           const store_options& options) = nullptr;
  server_facts (*read_facts)(const std::string& url, const store_options& options) = nullptr;
  std::span<const check> (*checks)() = nullptr;
  std::span<const embedded::file> (*migrations)() = nullptr;
  guard_texts (*guard)(const store_options& options, model::lock_mode mode, bool clustered) = nullptr;
};

// How a store enters the table, in each of its libraries (<store>/<store>_store.cpp):
//   - a constructor calls add_store() when the library is loaded, or, in an archive, before the program's own static
//     objects are made, because its priority is higher than theirs;
//   - the library defines a symbol, rowlock_store_<dialect>, that nothing in the program refers to. Linking
//     rowlock::<dialect> names it to the linker (src/CMakeLists.txt), so the linker neither skips the archive's
//     member with the constructor nor drops the shared library as unneeded.
// The priority of that constructor.
inline constexpr int before_static_objects = 1000;

// The store must live as long as the process. Thread-safe: a plug-in may load a store at any time. Ignores an unknown
// dialect.
ROWLOCK_FOR_STORES void add_store(const linked_store& store) noexcept;

// "postgres", "mysql" or "sqlite", for a name that people give a dialect: postgresql, mysql, mariadb or sqlite. Throws
// error(invalid_argument) for any other name.
std::string_view dialect_named(std::string_view name);

// Null if this dialect's store is not linked.
const linked_store* find_store(std::string_view dialect) noexcept;

// In the order postgres, mysql, sqlite.
std::vector<std::string> linked_dialects();
// For a message: "postgres, sqlite", or "none".
std::string linked_dialects_text();

}  // namespace rowlock::store
