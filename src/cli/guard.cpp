// The subcommand guard, which prints the SQL that proves a hold in a transaction of another program's.
#include "cli/context.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"

#include <rowlock/error.hpp>
#include <rowlock/guard/statement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

namespace {

struct guard_words {
  std::string name;
  std::string hold;
  std::string dialect;
  std::string placeholders;
  bool is_shared = false;
  bool is_clustered = false;
};

std::string from_environment(const char* variable, const char* option) {
  if (const char* value = environment(variable)) return value;
  throw error(errc::invalid_argument,
              fmt::format("{} is missing; the command of rowlock run finds it in {}", option, variable));
}

// Calls put(i) for each parameter of the statement, in order, and copies the rest. The dialects write them $1, ? and ?1.
template <class Put>
std::string with_parameters(std::string_view sql, Put put) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '$' && sql[i] != '?') {
      text += sql[i];
      continue;
    }
    const bool is_numbered = i + 1 < sql.size() && (sql[i + 1] == '1' || sql[i + 1] == '2');
    text += put(is_numbered ? static_cast<std::size_t>(sql[++i] - '1') : next++);
  }
  return text;
}

// A name of other than the plainest characters is written in hexadecimal digits, so that no setting of the connection
// changes its meaning.
std::string literal(const std::string& text, const std::string& sql) {
  const auto is_plain = [](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) ||
           std::string_view{" /._:@-+#=,"}.find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (std::ranges::all_of(text, is_plain)) return '\'' + text + '\'';
  std::string digits;
  for (const unsigned char c : text) digits += fmt::format("{:02x}", c);
  if (sql.find('$') != std::string::npos) return "convert_from(decode('" + digits + "', 'hex'), 'UTF8')";
  if (sql.find("?1") != std::string::npos) return "CAST(x'" + digits + "' AS TEXT)";
  return "x'" + digits + '\'';
}

// How the drivers write parameters.
std::string placeholder(const std::string& style, std::size_t parameter, const std::string& sql) {
  if (style == "dollar") return fmt::format("${}", parameter + 1);
  if (style == "named") return parameter == 0 ? ":name" : ":hold";
  if (style == "percent") return parameter == 0 ? "%(name)s" : "%(hold)s";
  // SQLite's statement needs each parameter twice.
  return sql.find("?1") != std::string::npos ? fmt::format("?{}", parameter + 1) : "?";
}

std::string rendered(const std::string& sql, const guard_statement& guard, const std::string& style) {
  return with_parameters(sql, [&](std::size_t i) {
    return style.empty() ? literal(guard.parameters[i], sql) : placeholder(style, i, sql);
  });
}

int guard(const context& global, const guard_words& words) {
  const auto settings = global.client_options();
  const guard_target target{
      .name = words.name.empty() ? from_environment("ROWLOCK_NAME", "NAME") : words.name,
      .hold = hold_id::parse(words.hold.empty() ? from_environment("ROWLOCK_HOLD", "--hold") : words.hold),
      .is_shared = words.is_shared,
      .is_clustered = words.is_clustered,
      .schema = settings.schema,
      .prefix = settings.prefix};
  const auto made =
      guard_statement_for(words.dialect.empty() ? global.database_url() : words.dialect, target);
  const auto sql = rendered(made.sql, made, words.placeholders);
  const auto write = rendered(made.write, made, words.placeholders);
  if (global.json) {
    auto members = json::object({{"sql", sql}, {"write", write}});
    if (!words.placeholders.empty()) members["parameters"] = made.parameters;
    print_json({members});
  } else {
    fmt::print("{}\n", write.empty() ? sql : sql + ";\n" + write);
  }
  return success;
}

}  // namespace

void add_guard(command_line& program) {
  auto& command = add_subcommand(
      program.root(), "guard", "Print the SQL with which a transaction proves that it holds the lock.",
      "rowlock run billing/nightly -- sh -c 'rowlock guard --dialect postgresql'\n"
      "  rowlock guard --dialect mysql --placeholders question\n"
      "Run it at the beginning of a transaction, in the database of the locks. If it returns a row, the\n"
      "lock is held, and stays so until the transaction ends. If it returns none, roll back. This command\n"
      "connects to no database. With --cluster a second statement follows, which must change one row.");
  auto words = std::make_shared<guard_words>();
  add_nonempty(command, "NAME", words->name, "The lock's name; default: ROWLOCK_NAME");
  add_nonempty(command, "--hold", words->hold, "The hold's id; default: ROWLOCK_HOLD")->type_name("HOLD_ID");
  add_nonempty(command, "--dialect", words->dialect,
               "postgresql, mysql, mariadb or sqlite; default: that of --url or ROWLOCK_URL");
  command.add_flag("-s,--shared", words->is_shared, "The hold is one of run --shared or run --permits");
  command.add_flag("--cluster", words->is_clustered,
                   "The database is a Galera cluster, or a MySQL group with several primaries");
  add_nonempty(command, "--placeholders", words->placeholders,
               "Print placeholders instead of values: dollar ($1, $2), question (?), percent (%(name)s, "
               "%(hold)s) or named (:name, :hold)")
      ->type_name("STYLE")
      ->check(is_one_of({"dollar", "question", "percent", "named"}));
  program.set_action(command, [words](const context& global) { return guard(global, *words); });
}

}  // namespace rowlock::cli
