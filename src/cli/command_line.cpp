#include "cli/command_line.hpp"

#include "cli/exit_code.hpp"
#include "cli/sigpipe.hpp"
#include "cli/stderr_lines.hpp"
#include "model/text.hpp"

#include <rowlock/config.hpp>
#include <rowlock/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace rowlock::cli {

namespace {

// Whether the subcommand starts a command that stands behind "--" on the command line.
bool runs_command(const std::string& subcommand) {
  return subcommand == "run" || subcommand == "elect";
}

constexpr std::size_t line_width = 100;
constexpr std::size_t left_width = 30;  // with the two spaces before and behind it

// Breaks the text into lines of at most this width. A line break of the text stays.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::istringstream parts{text};
  for (std::string part; std::getline(parts, part);) {
    std::string line;
    std::istringstream words{part};
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > width) lines.push_back(std::exchange(line, {}));
      line += (line.empty() ? "" : " ") + word;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string row(const std::string& left, const std::string& right) {
  auto head = "  " + left;
  std::string result;
  if (head.size() + 2 > left_width || right.empty()) {
    result = head + '\n';
    head.clear();
  }
  for (const auto& line : wrapped(right, line_width - left_width)) {
    head.resize(left_width, ' ');
    result += head + line + '\n';
    head.clear();
  }
  return result;
}

// The name of the option's value without CLI11's check behind it: "DURATION" for "DURATION:a check".
std::string value_of(const CLI::Option& one) {
  const auto type = one.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string names_of(const CLI::Option& one) {
  auto names = one.get_name(false, true);
  if (const auto comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
  return names;
}

// How --help looks: two columns, no line longer than 100 characters, and only what a reader needs. It leaves out what
// CLI11 adds: which options exclude or need one another, which the errors say, and types, lists and ranges of values,
// which the descriptions say.
class help_formatter : public CLI::Formatter {
 public:
  // Adds the words after "--", of which CLI11 does not know.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    auto usage = CLI::Formatter::make_usage(app, std::move(name));
    if (!runs_command(app->get_name())) return usage;
    return usage.insert(usage.find_last_not_of('\n') + 1, " -- COMMAND [ARGUMENT ...]");
  }

  std::string make_option(const CLI::Option* one, bool is_positional) const override {
    auto right = one->get_description();
    // The usage shows whether a word without a dash is required.
    if (one->get_required() && !is_positional) right += "; required";
    if (!one->get_default_str().empty()) right += fmt::format(" (default {})", one->get_default_str());
    if (!one->get_envname().empty()) right += fmt::format("; also {}", one->get_envname());
    if (is_positional) return row(one->get_name(true), right);
    const auto value = value_of(*one);
    return row(names_of(*one) + (value.empty() ? "" : ' ' + value), right);
  }

  std::string make_subcommand(const CLI::App* one) const override {
    return row(one->get_name(), one->get_description());
  }
};

// Makes two words of "--name=", because CLI11 would take the next word as the value of a word that ends in "=".
void split_empty_values(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto& word = words[i];
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    word.pop_back();
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
}

void add_global_options(CLI::App& app, context& global) {
  const auto add = [&app](const char* name, std::string& value, const char* help) {
    return add_nonempty(app, name, value, help);
  };
  add("--url", global.url,
      "The database. Default: ROWLOCK_URL, or the file that ROWLOCK_URL_FILE names; use these for passwords");
  add("--prefix", global.prefix, "Prefix of the tables' names (default rowlock_)")->envname("ROWLOCK_PREFIX");
  add("--schema", global.schema, "PostgreSQL: the schema of the tables")->envname("ROWLOCK_SCHEMA");
  add("--listen-url", global.listen_url,
      "PostgreSQL behind a pooler: the server itself, for wake-ups. Default: ROWLOCK_LISTEN_URL");
  add("--application", global.application,
      "The name that operators see for this holder or waiter (default: rowlock and the command)")
      ->envname("ROWLOCK_APPLICATION");
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

// Takes out the words after "--", which belong to the command that is run. CLI11 would read a word such as "[a,b]"
// there as a list.
std::vector<std::string> split_command(std::vector<std::string>& words, const std::string& subcommand) {
  const auto mark = std::ranges::find(words, "--");
  if (!runs_command(subcommand) || mark == words.end()) return {};
  std::vector<std::string> command{mark + 1, words.end()};
  words.erase(mark, words.end());
  return command;
}

// Makes `X --help` of `help X`.
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

std::string text_of(const error& problem) {
  std::string text = problem.what();
  const auto& code = problem.database_code();
  if (!code.empty() && text.find(code) == std::string::npos) text += " [" + code + "]";
  if (problem.code() == errc::not_migrated && text.find("migrate up") == std::string::npos) {
    text += "; run: rowlock migrate up";
  }
  return text;
}

// Standard output is a pipe whose reader has left, as that of `rowlock list | head -1`. SIGPIPE ends this process as it
// would have done if libmariadb did not ignore it. Returns only if the caller of this process ignores SIGPIPE.
void end_by_sigpipe() {
  restore_sigpipe();
  std::raise(SIGPIPE);
}

// Prints the exception that is being handled, and returns its exit code. Requires: a catch block calls this function.
int report_failure(const context& global) {
  try {
    throw;
  } catch (const error& problem) {
    global.print_to_stderr(text_of(problem));
    return exit_code_of(problem.kind());
  } catch (const std::system_error& problem) {
    if (problem.code() == std::errc::broken_pipe) end_by_sigpipe();  // thrown by fmt::print
    const bool lacks_threads = problem.code() == std::errc::resource_unavailable_try_again;
    global.print_to_stderr(
        lacks_threads ? fmt::format("no thread can be started: {}; too many processes and threads run for "
                                    "this user (ulimit -u) or this container",
                                    problem.code().message())
                      : fmt::format("internal fault: {}", problem.what()));
    return lacks_threads ? unavailable : software;
  } catch (const std::exception& problem) {
    global.print_to_stderr(fmt::format("internal fault: {}", problem.what()));
    return software;
  }
}

int unless_unwritten(const context& global, int code) {
  errno = 0;
  if (is_output_written()) return code;
  // `software`: the subcommand has noticed and told it.
  if (errno == EPIPE && code != software) end_by_sigpipe();
  global.print_to_stderr("standard output cannot be written");
  return software;
}

}  // namespace

template <class Value>
CLI::Option* add_nonempty(CLI::App& command, const std::string& names, Value& value,
                          const std::string& help) {
  const auto check = [](const std::string& word) {
    return word.empty() ? std::string{"an empty value; give one or leave it out"} : std::string{};
  };
  return command.add_option(names, value, help)->check(check);
}

template CLI::Option* add_nonempty(CLI::App&, const std::string&, std::string&, const std::string&);
template CLI::Option* add_nonempty(CLI::App&, const std::string&, int&, const std::string&);
template CLI::Option* add_nonempty(CLI::App&, const std::string&, std::int64_t&, const std::string&);
template CLI::Option* add_nonempty(CLI::App&, const std::string&, double&, const std::string&);
template CLI::Option* add_nonempty(CLI::App&, const std::string&, std::optional<int>&, const std::string&);

CLI::Validator is_positive() {
  const auto check = [](const std::string& word) -> std::string {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failure == std::errc{} && end == word.data() + word.size() && number > 0) return {};
    return fmt::format("'{}' is not a whole number above 0", word);
  };
  return CLI::Validator{check, ""};
}

CLI::Validator is_one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words);
}

CLI::App& add_subcommand(CLI::App& parent, const std::string& name, const std::string& summary,
                         const std::string& example) {
  auto* added = parent.add_subcommand(name, summary);
  added->fallthrough();
  added->footer(
      "Example:\n  " + example +
      "\nGlobal options (--url, --prefix, --schema, --application, --json, -q, -v): rowlock --help");
  return *added;
}

command_line::command_line(const std::string& program, const std::string& summary, const std::string& footer)
    : root_{summary, program} {
  global_.program = program;
  root_.footer(footer);
  root_.formatter(std::make_shared<help_formatter>());
  add_global_options(root_, global_);
}

command_line::~command_line() = default;

void command_line::set_action(CLI::App& command, action act) {
  // CLI11 calls the callback of a subcommand before that of its parent.
  command.callback([this, act = std::move(act)] {
    if (!action_) action_ = act;
  });
}

// Returns the exit code, or nothing if the words were parsed and the action is to be called.
std::optional<int> command_line::parse(std::vector<std::string> words) {
  std::string place = global_.program;
  if (has_subcommands(root_)) {
    rewrite_help(words);
    global_.subcommand = subcommand_of(words);
    global_.command = split_command(words, global_.subcommand);
    const auto has_this_name = [&](const CLI::App* any) { return any->check_name(global_.subcommand); };
    if (!root_.get_subcommands(has_this_name).empty()) {
      place += ' ' + global_.subcommand;
    } else if (!global_.subcommand.empty()) {
      global_.print_to_stderr(fmt::format("there is no command '{}'{}; see: {} --help", global_.subcommand,
                                          model::did_you_mean(global_.subcommand, subcommands_of(root_)),
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
  std::ranges::reverse(words);  // CLI11 takes the words from the back
  try {
    root_.parse(words);
    return {};
  } catch (const CLI::Success& asked) {
    return unless_unwritten(global_, root_.exit(asked));
  } catch (const CLI::ExtrasError&) {
    const bool lacks_command = runs_command(global_.subcommand) && global_.command.empty();
    // The exception of CLI11 2.1 would list the words in reverse.
    const auto extras = root_.remaining(true);
    return refuse(lacks_command
                      ? fmt::format("write the command after --, as in: {} NAME -- COMMAND", place)
                      : fmt::format("unexpected {}: {}{}", extras.size() == 1 ? "argument" : "arguments",
                                    fmt::join(extras, " "), did_you_mean(root_)));
  } catch (const CLI::ParseError& problem) {
    return refuse(problem.what() + did_you_mean(root_));
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
