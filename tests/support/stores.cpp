#include "support/stores.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace rowlock::test {

namespace {

std::vector<std::string>& stores() {
  static std::vector<std::string> all{"memory", "sqlite", "postgres", "mariadb", "mysql"};
  return all;
}

}  // namespace

const std::vector<std::string>& selected_stores() {
  return stores();
}

void select_stores(int& argc, char** argv) {
  static constexpr std::string_view option = "--stores=";
  const auto all = stores();
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(option)) {
      argv[kept++] = argv[i];
      continue;
    }
    stores().clear();
    std::istringstream list{std::string{argument.substr(option.size())}};
    for (std::string name; std::getline(list, name, ',');) {
      if (std::ranges::count(all, name) == 0) {
        throw std::invalid_argument("--stores: no store is named \"" + name +
                                    "\"; there are memory, sqlite, postgres, mariadb and mysql");
      }
      stores().push_back(name);
    }
    if (stores().empty()) throw std::invalid_argument("--stores names no store; every suite would be empty");
  }
  argc = kept;
  argv[argc] = nullptr;
}

std::vector<std::string> selected_of(std::initializer_list<std::string_view> names) {
  std::vector<std::string> result;
  for (const auto name : names) {
    if (std::ranges::count(stores(), name) > 0) result.emplace_back(name);
  }
  return result;
}

bool has_mysql_dialect(const std::string& store) {
  return store == "mariadb" || store == "mysql";
}

std::string dialect_of(const std::string& store) {
  return has_mysql_dialect(store) ? "mysql" : store;
}

}  // namespace rowlock::test
