// A store's queries by name, with the caller's table prefix put in.
#pragma once

#include "store/embedded.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::store {

// Puts another prefix in: replaces "rowlock_" wherever an identifier starts with it.
std::string with_prefix(std::string_view sql, std::string_view prefix);

class sql_catalog {
 public:
  // Comment lines and surrounding white space are left out: the server need not parse them each time.
  sql_catalog(std::span<const embedded::file> files, std::string_view prefix);

  // Throws error(internal) for a name that has no file.
  const std::string& operator[](std::string_view name) const;

  auto begin() const { return queries_.begin(); }
  auto end() const { return queries_.end(); }

 private:
  std::map<std::string, std::string, std::less<>> queries_;
};

}  // namespace rowlock::store
