// What `rowlock doctor` reads about a server: settings and states, by name.
#pragma once

#include "model/for_stores.hpp"
#include "store/rows.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace rowlock::store {

// Values by name. A setting has the server's own name. A fact is known, unknown (this user may not see it),
// or absent (it does not apply to this server).
class ROWLOCK_FOR_STORES server_facts {
 public:
  // Sets a fact that is known from now on.
  void set(std::string name, std::string value) {
    unknown_.erase(name);
    values_[std::move(name)] = std::move(value);
  }
  void set(std::string name, std::int64_t value) { set(std::move(name), std::to_string(value)); }
  void set_unknown(std::string name, std::string reason) { unknown_[std::move(name)] = std::move(reason); }
  // Takes rows of two columns, fact and value. A value NULL means that this user may not see the fact.
  void add(rows&& from);
  // Calls read, which adds the named facts. If read throws error(privilege), the facts are unknown.
  void add_if_allowed(std::initializer_list<const char*> names, const std::function<void()>& read);

  bool has(std::string_view name) const { return values_.contains(name); }
  // Empty if the fact is not known.
  const std::string& operator[](std::string_view name) const;
  bool is(std::string_view name, std::string_view value) const { return has(name) && (*this)[name] == value; }
  // 0 if the fact is not known.
  std::int64_t number(std::string_view name) const;
  // Null unless the fact is unknown.
  const std::string* why_unknown(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> unknown_;
};

// Compares the server's clock with this machine's: sets clock_offset_ms, which is positive if the server is
// ahead, and clock_uncertainty_ms, half of the round trip's time.
ROWLOCK_FOR_STORES void compare_clocks(server_facts& facts,
                                       const std::function<std::chrono::microseconds()>& read_server_clock);

}  // namespace rowlock::store
