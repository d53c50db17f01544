#include "support/roles.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace rowlock::test {

namespace {

std::string_view word_of(role_use use) {
  switch (use) {
    case role_use::run: return "run";
    case role_use::observe: return "observe";
    case role_use::operate: return "operate";
    case role_use::migrate: return "migrate";
    case role_use::write: break;
  }
  throw std::invalid_argument("no fixture has a role of this use");
}

}  // namespace

bool asked_for_roles() {
  const char* set = std::getenv("ROWLOCK_TEST_AS_ROLES");
  return set && std::string_view{set} == "1";
}

const std::vector<role_use>& uses_of_roles() {
  static const std::vector<role_use> uses{role_use::run, role_use::observe, role_use::operate,
                                          role_use::migrate};
  return uses;
}

std::string role_name(const std::string& prefix, role_use use) {
  return prefix + std::string{word_of(use)};
}

std::string as_role(std::string url, role_use use) {
  const auto end = url.find_first_of(":@", url.find("//") + 2);
  constexpr std::string_view run = "_run";
  if (!asked_for_roles() || end == std::string::npos || !std::string_view{url}.substr(0, end).ends_with(run))
    return url;
  return url.replace(end - run.size() + 1, run.size() - 1, word_of(use));
}

}  // namespace rowlock::test
