// How --help looks: two columns, no line longer than 100 characters, and only what a reader needs.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace rowlock::cli {

// Whether the subcommand starts a command that stands behind "--" on the command line.
inline bool runs_command(const std::string& subcommand) {
  return subcommand == "run" || subcommand == "elect";
}

// Leaves out what CLI11 adds: which options exclude or need one another, which the errors say, and types, lists and
// ranges of values, which the descriptions say.
class help_formatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* one, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* one) const override;
};

}  // namespace rowlock::cli
