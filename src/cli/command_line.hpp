// The command line: subcommands and options. CLI11 parses it, and only command_line.cpp includes CLI11: its
// headers take longer to compile than everything else here.
#pragma once

#include "cli/context.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rowlock::cli {

// A handle: copies mean the same option. Each function returns it, so that calls can be chained.
class option {
 public:
  explicit option(CLI::Option& parsed) : parsed_{&parsed} {}

  option required();
  option value_name(const std::string& name);  // as --help shows it
  option may_be_empty();                       // any other option or word refuses ""
  option positive();
  option between(int least, int most);
  option between(double least, double most);
  option one_of(const std::vector<std::string>& words);
  option with_default_shown();
  option needs(option other);
  option excludes(option other);

 private:
  CLI::Option* parsed_;
};

// A handle as well. Values are set while the command line is parsed; they must live as long as the action.
class command_syntax {
 public:
  using action = std::function<int(const context&)>;

  command_syntax(CLI::App& parsed, action& chosen) : parsed_{&parsed}, chosen_{&chosen} {}

  // names: "-w,--wait" for an option, "NAME" for a word without a dash.
  option add(const std::string& names, std::string& value, const std::string& help);
  option add(const std::string& names, int& value, const std::string& help);
  option add(const std::string& names, std::int64_t& value, const std::string& help);
  option add(const std::string& names, double& value, const std::string& help);
  option add(const std::string& names, std::optional<int>& value, const std::string& help);
  option add_flag(const std::string& names, bool& value, const std::string& help);

  // Global options may follow a subcommand, and its --help ends in the example.
  command_syntax add_subcommand(const std::string& name, const std::string& summary,
                                const std::string& example);
  void require_subcommand();

  // Sets what the program does when it is called with this command, unless one of its subcommands also has an
  // action. The action returns the exit code, and may throw.
  void set_action(action act);

 private:
  CLI::App* parsed_;
  action* chosen_;
};

// A whole program, with the global options.
class command_line {
 public:
  command_line(const std::string& program, const std::string& summary, const std::string& footer);
  ~command_line();

  command_syntax root();

  // Parses the words and calls the action. Returns the exit code; every error has been printed, and a
  // rowlock::error has chosen the code (exit_code.hpp).
  int run(int count, char** words);

 private:
  std::optional<int> parse(std::vector<std::string> words);
  int act() const;

  context global_;
  command_syntax::action action_;
  std::unique_ptr<CLI::App> parsed_;
};

}  // namespace rowlock::cli
