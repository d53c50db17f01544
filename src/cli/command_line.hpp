// A program's command line: its subcommands and options, which CLI11 parses, and their actions.
#pragma once

#include "cli/context.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::cli {

// A whole program, with the global options.
class command_line {
 public:
  // Returns the exit code, and may throw.
  using action = std::function<int(const context&)>;

  command_line(const std::string& program, const std::string& summary, const std::string& footer);
  ~command_line();

  // The program itself. Options, words and subcommands are added to it before run(). Values are set while the command
  // line is parsed, and must live as long as the action.
  CLI::App& root() { return root_; }

  // Sets what the program does when it is called with this command, unless one of the command's subcommands also has an
  // action.
  void set_action(CLI::App& command, action act);

  // Parses the words and calls the action. Returns the exit code; every error has been printed, and a
  // rowlock::error has chosen the code (exit_code.hpp).
  int run(int count, char** words);

 private:
  std::optional<int> parse(std::vector<std::string> words);
  int act() const;

  CLI::App root_;
  context global_;
  action action_;
};

// Adds a subcommand. Global options may follow it, and its --help ends in the example.
CLI::App& add_subcommand(CLI::App& parent, const std::string& name, const std::string& summary,
                         const std::string& example);

// Adds an option ("-w,--wait") or a word without a dash ("NAME") whose value may not be "". A script whose variable is
// empty would otherwise get the default: every holder, or a wait without an end. CLI11's own add_option() is for
// options for which "" is a value. Value: std::string, int, std::int64_t, double or std::optional<int>.
template <class Value>
CLI::Option* add_nonempty(CLI::App& command, const std::string& names, Value& value, const std::string& help);

// For CLI::Option::check: a whole number above 0, or one of the words.
CLI::Validator is_positive();
CLI::Validator is_one_of(const std::vector<std::string>& words);

}  // namespace rowlock::cli
