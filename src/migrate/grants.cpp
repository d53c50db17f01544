#include <rowlock/grants.hpp>

#include "model/names.hpp"
#include "store/registry.hpp"
#include "store/sql_catalog.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace rowlock::embedded {
std::span<const file> role_grants();
}

ROWLOCK_BEGIN_NAMESPACE

namespace {

std::string_view verb_of(role_use use) {
  switch (use) {
    case role_use::run: return "run";
    case role_use::observe: return "observe";
    case role_use::operate: return "operate";
    case role_use::migrate: return "migrate";
    case role_use::write: return "write";
  }
  throw error(errc::invalid_argument, "unknown use of a role");
}

void check_role(std::string_view role) {
  const bool has_control = std::ranges::any_of(role, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (!role.empty() && !has_control) return;
  throw error(errc::invalid_argument, "the name of a role is empty or has control characters");
}

std::string quoted_name(std::string_view name, char quote) {
  std::string result{quote};
  for (const char c : name) {
    if (c == quote) result += quote;
    result += c;
  }
  return result + quote;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::vector<std::string> split(const std::string& text) {
  constexpr std::string_view end = ";\n";
  std::vector<std::string> statements;
  for (std::size_t from = 0; from < text.size();) {
    const auto to = std::min(text.find(end, from), text.size());
    statements.push_back(text.substr(from, to - from));
    from = to + end.size();
  }
  return statements;
}

std::vector<std::string> filled(std::string_view file_name, role_use use, const std::string& prefix,
                                std::initializer_list<std::pair<std::string_view, std::string>> words) {
  for (const auto& file : embedded::role_grants()) {
    if (file.name != file_name) continue;
    auto statements = split(store::sql_catalog{{&file, 1}, prefix}[verb_of(use)]);
    for (auto& statement : statements) {
      for (const auto& [word, value] : words) replace_all(statement, word, value);
    }
    return statements;
  }
  throw error(errc::internal, fmt::format("there are no grants for {}", file_name));
}

std::vector<std::string> for_postgres(const std::string& role, role_use use, const std::string& schema,
                                      const std::string& prefix) {
  return filled(
      "postgres", use, prefix,
      {{":schema", quoted_name(schema.empty() ? "public" : schema, '"')}, {":role", quoted_name(role, '"')}});
}

std::vector<std::string> for_mysql(const std::string& role, role_use use, const std::string& schema,
                                   const std::string& prefix) {
  const auto at = role.rfind('@');
  const bool has_host = at != std::string::npos && at > 0;
  auto user = quoted_name(role.substr(0, has_host ? at : role.size()), '`');
  if (has_host) user += '@' + quoted_name(role.substr(at + 1), '`');
  // MySQL reads the name in `database`.* as a pattern.
  auto pattern = schema;
  replace_all(pattern, "_", "\\_");
  return filled("mysql", use, prefix,
                {{":schema.", schema.empty() ? "" : quoted_name(schema, '`') + '.'},
                 {":database.*", schema.empty() ? "*" : quoted_name(pattern, '`') + ".*"},
                 {":role", user}});
}

}  // namespace

std::vector<std::string> grant_statements(const std::string& dialect, const std::string& role, role_use use,
                                          const std::string& schema, const std::string& prefix) {
  model::check_identifier("prefix", prefix);
  if (!schema.empty()) model::check_identifier("schema", schema);
  check_role(role);
  const auto meant = store::dialect_named(dialect);
  if (meant == "postgres") return for_postgres(role, use, schema, prefix);
  if (meant == "mysql") return for_mysql(role, use, schema, prefix);
  return {};
}

ROWLOCK_END_NAMESPACE
