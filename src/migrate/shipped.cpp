#include "migrate/shipped.hpp"

#include "model/names.hpp"
#include "store/registry.hpp"
#include "store/schema_version.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace rowlock::migrate {

namespace {

struct file_name {
  int version = 0;
  std::string_view title;
  bool up = true;
};

file_name parse_file_name(std::string_view name) {
  file_name result;
  const auto digits_end = name.data() + name.find('_');
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), result.version);
  const auto dot = name.rfind('.');
  const bool numbered = failure == std::errc{} && end == digits_end && result.version > 0;
  if (!numbered || dot == std::string_view::npos) {
    throw error(errc::internal, fmt::format("migration file '{}' is not NNNN_title.up or .down", name));
  }
  const auto half = name.substr(dot + 1);
  if (half != "up" && half != "down") {
    throw error(errc::internal, fmt::format("migration file '{}' ends in neither .up nor .down", name));
  }
  result.title = name.substr(name.find('_') + 1, dot - name.find('_') - 1);
  result.up = half == "up";
  return result;
}

}  // namespace

std::vector<migration> pair_files(std::span<const embedded::file> files, std::string_view prefix) {
  std::map<int, migration> by_version;
  for (const auto& file : files) {
    const auto name = parse_file_name(file.name);
    auto& entry = by_version[name.version];
    entry.version = name.version;
    entry.title = name.title;
    (name.up ? entry.up : entry.down) = store::with_prefix(file.text, prefix);
    if (name.up) entry.checksum = file.checksum;
  }
  std::vector<migration> result;
  for (auto& [version, entry] : by_version) {
    if (version != static_cast<int>(result.size()) + 1) {
      throw error(errc::internal, fmt::format("migration {} is missing", result.size() + 1));
    }
    if (entry.up.empty() || entry.down.empty()) {
      throw error(errc::internal, fmt::format("migration {} has only one of its two files", version));
    }
    result.push_back(std::move(entry));
  }
  return result;
}

}  // namespace rowlock::migrate

ROWLOCK_BEGIN_NAMESPACE

std::vector<migration> shipped_migrations(const std::string& dialect, const std::string& prefix) {
  model::check_identifier("prefix", prefix);
  // Not a string_view: the alternatives have two types, so the result of their conversion is a temporary.
  const std::string meant = dialect == "postgresql" ? "postgres" : dialect == "mariadb" ? "mysql" : dialect;
  if (const auto* found = store::find_store(meant)) return migrate::pair_files(found->migrations(), prefix);
  throw error(errc::invalid_argument,
              fmt::format("this program has no store for the dialect '{}'; it has: {}", dialect,
                          store::linked_dialects_text()));
}

int required_schema_version() noexcept {
  return store::library_schema_version;
}

ROWLOCK_END_NAMESPACE
