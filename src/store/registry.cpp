#include "store/registry.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>

namespace rowlock::store {

namespace {

struct place {
  std::string_view dialect;
  std::atomic<const linked_store*> store = nullptr;
};

// Initialized before any constructor runs, because the stores' constructors run before those of this file.
constinit place places[] = {{"postgres"}, {"mysql"}, {"sqlite"}};

}  // namespace

void add_store(const linked_store& store) noexcept {
  for (auto& each : places) {
    if (each.dialect == store.dialect) each.store.store(&store, std::memory_order_release);
  }
}

std::string_view dialect_named(std::string_view name) {
  if (name == "postgresql" || name == "postgres") return "postgres";
  if (name == "mysql" || name == "mariadb") return "mysql";
  if (name == "sqlite") return "sqlite";
  throw error(errc::invalid_argument,
              fmt::format("'{}' is not a dialect: postgresql, mysql, mariadb or sqlite is expected", name));
}

const linked_store* find_store(std::string_view dialect) noexcept {
  for (const auto& each : places) {
    if (each.dialect == dialect) return each.store.load(std::memory_order_acquire);
  }
  return nullptr;
}

std::vector<std::string> linked_dialects() {
  std::vector<std::string> dialects;
  for (const auto& each : places) {
    if (find_store(each.dialect)) dialects.emplace_back(each.dialect);
  }
  return dialects;
}

std::string linked_dialects_text() {
  const auto dialects = linked_dialects();
  return dialects.empty() ? "none" : fmt::format("{}", fmt::join(dialects, ", "));
}

}  // namespace rowlock::store
