// The subcommand guard, which prints the SQL that proves a hold in a transaction of another program's.
#include "cli/context.hpp"
#include "cli/exit_code.hpp"
#include "cli/guard_text.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"

#include <rowlock/error.hpp>
#include <rowlock/guard/statement.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>
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
  const auto rendered = [&](const std::string& text) {
    return words.placeholders.empty() ? with_values(text, made) : with_placeholders(text, words.placeholders);
  };
  const auto sql = rendered(made.sql);
  const auto write = rendered(made.write);
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
