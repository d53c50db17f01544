#include "store/server_facts.hpp"

#include <rowlock/error.hpp>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace rowlock::store {

void server_facts::add(rows&& from) {
  while (from.next()) {
    if (from.null(1)) {
      set_unknown(from.text(0), "this user may not see it");
    } else {
      set(from.text(0), from.text(1));
    }
  }
}

void server_facts::add_if_allowed(std::initializer_list<const char*> names,
                                  const std::function<void()>& read) {
  try {
    read();
  } catch (const error& refused) {
    if (refused.code() != errc::privilege) throw;
    for (const char* name : names) set_unknown(name, refused.what());
  }
}

const std::string& server_facts::operator[](std::string_view name) const {
  static const std::string none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

std::int64_t server_facts::number(std::string_view name) const {
  const auto& text = (*this)[name];
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

const std::string* server_facts::why_unknown(std::string_view name) const {
  const auto found = unknown_.find(name);
  return found == unknown_.end() ? nullptr : &found->second;
}

void compare_clocks(server_facts& facts,
                    const std::function<std::chrono::microseconds()>& read_server_clock) {
  using std::chrono::system_clock;
  const auto now = [] {
    return std::chrono::floor<std::chrono::microseconds>(system_clock::now()).time_since_epoch();
  };
  // The fastest of three round trips is the most accurate.
  std::optional<std::chrono::microseconds> uncertainty;
  std::chrono::microseconds offset{0};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto before = now();
    const auto server = read_server_clock();
    const auto half = (now() - before) / 2;
    if (uncertainty && half >= *uncertainty) continue;
    uncertainty = half;
    offset = server - (before + half);
  }
  using std::chrono::milliseconds;
  facts.set("clock_offset_ms", std::chrono::round<milliseconds>(offset).count());
  facts.set("clock_uncertainty_ms", std::chrono::ceil<milliseconds>(*uncertainty).count());
}

}  // namespace rowlock::store
