#include "cli/command_line.hpp"

#include "cli/exit_code.hpp"
#include "cli/failure.hpp"
#include "cli/help_formatter.hpp"
#include "cli/open_clients.hpp"
#include "cli/stderr_lines.hpp"
#include "model/text.hpp"

#include <rowlock/config.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

namespace rowlock::cli {

namespace {

constexpr auto not_empty = "not_empty";  // the name of a check

// A script whose variable is empty would otherwise get the default: every holder, or a wait without an end.
CLI::Option& refuse_empty(CLI::Option* parsed) {
  parsed->check(CLI::Validator{[](const std::string& word) {
                                 return word.empty() ? std::string{"an empty value; give one or leave it out"}
                                                     : std::string{};
                               },
                               "", not_empty});
  return *parsed;
}

// CLI11 would take the next word as the value of a word that ends in "=".
void split_empty_values(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto& word = words[i];
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    word.pop_back();
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
}

void add_global_options(CLI::App& app, context& global) {
  const auto add = [&app](const char* name, std::string& value, const char* help) -> CLI::Option& {
    return refuse_empty(app.add_option(name, value, help));
  };
  add("--url", global.url,
      "The database. Default: ROWLOCK_URL, or the file that ROWLOCK_URL_FILE names; use these for passwords");
  add("--prefix", global.prefix, "Prefix of the tables' names (default rowlock_)").envname("ROWLOCK_PREFIX");
  add("--schema", global.schema, "PostgreSQL: the schema of the tables").envname("ROWLOCK_SCHEMA");
  add("--listen-url", global.listen_url,
      "PostgreSQL behind a pooler: the server itself, for wake-ups. Default: ROWLOCK_LISTEN_URL");
  add("--application", global.application,
      "The name that operators see for this holder or waiter (default: rowlock and the command)")
      .envname("ROWLOCK_APPLICATION");
  app.add_flag("--json", global.json, "Print one JSON array; watch prints an object per line");
  auto* quiet = app.add_flag("-q,--quiet", global.quiet, "Print nothing on stderr except errors");
  app.add_flag("-v,--verbose", global.verbose,
               "Report on stderr what happens: waits, grants, releases, background work")
      ->excludes(quiet);
  app.set_version_flag("-V,--version", global.program + " " ROWLOCK_VERSION);
}

bool has_subcommands(const CLI::App& app) {
  return !app.get_subcommands([](const CLI::App*) { return true; }).empty();
}

// The first word that is neither an option nor an option's value.
std::string subcommand_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--url" || words[i] == "--prefix" || words[i] == "--schema" ||
        words[i] == "--listen-url" || words[i] == "--application") {
      ++i;
    } else if (!words[i].starts_with('-')) {
      return words[i];
    }
  }
  return "";
}

// The words after "--" belong to the command that is run. CLI11 would read a word such as "[a,b]" there as a list.
std::vector<std::string> split_command(std::vector<std::string>& words, const std::string& subcommand) {
  const auto mark = std::ranges::find(words, "--");
  if (!runs_command(subcommand) || mark == words.end()) return {};
  std::vector<std::string> command{mark + 1, words.end()};
  words.erase(mark, words.end());
  return command;
}

// `help X` is `X --help`.
void rewrite_help(std::vector<std::string>& words) {
  if (words.empty() || words[0] != "help") return;
  words.erase(words.begin());
  words.emplace_back("--help");
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(one->get_name());
  }
  return names;
}

// A suggestion for the first misspelt word of a command line that was parsed as far as possible.
std::string did_you_mean(const CLI::App& root) {
  std::vector<std::string> options;
  const CLI::App* chosen = &root;
  for (;;) {
    for (const auto* one : chosen->get_options()) {
      for (const auto& name : one->get_lnames()) options.push_back("--" + name);
    }
    const auto next = chosen->get_subcommands();
    if (next.empty()) break;
    chosen = next.front();
  }
  for (const auto& word : root.remaining(true)) {
    const auto found = word.starts_with('-') ? model::did_you_mean(word.substr(0, word.find('=')), options)
                                             : model::did_you_mean(word, subcommands_of(*chosen));
    if (!found.empty()) return found;
  }
  return {};
}

int unless_unwritten(const context& global, int code) {
  if (is_output_written()) return code;
  global.print_to_stderr("standard output cannot be written");
  return software;
}

}  // namespace

option option::required() {
  parsed_->required();
  return *this;
}

option option::value_name(const std::string& name) {
  parsed_->type_name(name);
  return *this;
}

option option::may_be_empty() {
  parsed_->get_validator(not_empty)->active(false);
  return *this;
}

option option::positive() {
  parsed_->check(
      [](const std::string& word) {
        std::int64_t number = 0;
        const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (failure == std::errc{} && end == word.data() + word.size() && number > 0) return std::string{};
        return fmt::format("'{}' is not a whole number above 0", word);
      },
      "");
  return *this;
}

option option::between(int least, int most) {
  parsed_->check(CLI::Range(least, most));
  return *this;
}

option option::between(double least, double most) {
  parsed_->check(CLI::Range(least, most));
  return *this;
}

option option::one_of(const std::vector<std::string>& words) {
  parsed_->check(CLI::IsMember(words));
  return *this;
}

option option::with_default_shown() {
  parsed_->capture_default_str();
  return *this;
}

option option::needs(option other) {
  parsed_->needs(other.parsed_);
  return *this;
}

option option::excludes(option other) {
  parsed_->excludes(other.parsed_);
  return *this;
}

option command_syntax::add(const std::string& names, std::string& value, const std::string& help) {
  return option{refuse_empty(parsed_->add_option(names, value, help))};
}

option command_syntax::add(const std::string& names, int& value, const std::string& help) {
  return option{refuse_empty(parsed_->add_option(names, value, help))};
}

option command_syntax::add(const std::string& names, std::int64_t& value, const std::string& help) {
  return option{refuse_empty(parsed_->add_option(names, value, help))};
}

option command_syntax::add(const std::string& names, double& value, const std::string& help) {
  return option{refuse_empty(parsed_->add_option(names, value, help))};
}

option command_syntax::add(const std::string& names, std::optional<int>& value, const std::string& help) {
  return option{refuse_empty(parsed_->add_option(names, value, help))};
}

option command_syntax::add_flag(const std::string& names, bool& value, const std::string& help) {
  return option{*parsed_->add_flag(names, value, help)};
}

command_syntax command_syntax::add_subcommand(const std::string& name, const std::string& summary,
                                              const std::string& example) {
  auto* added = parsed_->add_subcommand(name, summary);
  added->fallthrough();
  added->footer(
      "Example:\n  " + example +
      "\nGlobal options (--url, --prefix, --schema, --application, --json, -q, -v): rowlock --help");
  return {*added, *chosen_};
}

void command_syntax::require_subcommand() {
  parsed_->require_subcommand(1);
}

void command_syntax::set_action(action act) {
  // CLI11 calls the subcommand's callback first.
  parsed_->callback([chosen = chosen_, act = std::move(act)] {
    if (!*chosen) *chosen = act;
  });
}

command_line::command_line(const std::string& program, const std::string& summary, const std::string& footer)
    : parsed_{std::make_unique<CLI::App>(summary, program)} {
  global_.program = program;
  parsed_->footer(footer);
  parsed_->formatter(std::make_shared<help_formatter>());
  add_global_options(*parsed_, global_);
}

command_line::~command_line() = default;

command_syntax command_line::root() {
  return {*parsed_, action_};
}

// Empty: parsed, continue. Otherwise the exit code.
std::optional<int> command_line::parse(std::vector<std::string> words) {
  std::string place = global_.program;
  if (has_subcommands(*parsed_)) {
    rewrite_help(words);
    global_.subcommand = subcommand_of(words);
    global_.command = split_command(words, global_.subcommand);
    const auto has_this_name = [&](const CLI::App* any) { return any->check_name(global_.subcommand); };
    if (!parsed_->get_subcommands(has_this_name).empty()) {
      place += ' ' + global_.subcommand;
    } else if (!global_.subcommand.empty()) {
      global_.print_to_stderr(fmt::format("there is no command '{}'{}; see: {} --help", global_.subcommand,
                                          model::did_you_mean(global_.subcommand, subcommands_of(*parsed_)),
                                          global_.program));
      return usage;
    }
  }
  const auto refuse = [&](const std::string& why) {
    global_.print_to_stderr(why);
    put_stderr_line(fmt::format("See: {} --help\n", place));
    return usage;
  };
  split_empty_values(words);
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    parsed_->parse(words);
    return {};
  } catch (const CLI::Success& asked) {
    return unless_unwritten(global_, parsed_->exit(asked));
  } catch (const CLI::ExtrasError&) {
    const bool lacks_command = runs_command(global_.subcommand) && global_.command.empty();
    // CLI11 2.1 would list them in reverse.
    const auto extras = parsed_->remaining(true);
    return refuse(lacks_command
                      ? fmt::format("write the command after --, as in: {} NAME -- COMMAND", place)
                      : fmt::format("unexpected {}: {}{}", extras.size() == 1 ? "argument" : "arguments",
                                    fmt::join(extras, " "), did_you_mean(*parsed_)));
  } catch (const CLI::ParseError& problem) {
    return refuse(problem.what() + did_you_mean(*parsed_));
  }
}

int command_line::act() const {
  try {
    return unless_unwritten(global_, action_(global_));
  } catch (...) {
    return report_failure(global_);
  }
}

int command_line::run(int count, char** words) {
  const auto refused = parse({words + 1, words + count});
  const int code = refused ? *refused : act();
  close_clients(std::chrono::milliseconds{500});
  wait_for_stderr(std::chrono::seconds{1});
  return code;
}

}  // namespace rowlock::cli
