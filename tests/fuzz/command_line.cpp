// A command line, whose words end in a zero byte. The options are of every kind that the subcommands use.
#include "cli/command_line.hpp"

#include "fuzz.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

using namespace rowlock;

namespace {

// Discards help and refusals.
class silence {
 public:
  silence() : output_{::dup(1)}, errors_{::dup(2)} {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    std::fflush(stdout);
    std::fflush(stderr);
    ::dup2(nowhere, 1);
    ::dup2(nowhere, 2);
    ::close(nowhere);
  }
  ~silence() {
    std::fflush(stdout);
    std::fflush(stderr);
    ::dup2(output_, 1);
    ::dup2(errors_, 2);
    ::close(output_);
    ::close(errors_);
  }
  silence(const silence&) = delete;
  silence& operator=(const silence&) = delete;

 private:
  int output_;
  int errors_;
};

}  // namespace

ROWLOCK_FUZZ(command_line) {
  std::vector<std::string> words{"rowlock"};
  for (auto rest = bytes; !rest.empty();) {
    const auto end = rest.find('\0');
    words.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());

  cli::command_line line{"rowlock", "Locks", ""};
  std::string name, wait, format;
  int exit_code = 1;
  std::optional<int> to;
  std::int64_t permits = 1;
  bool shared = false, acted = false;
  std::vector<std::string> command;
  auto& run = cli::add_subcommand(line.root(), "run", "Runs a command", "rowlock run a -- true");
  cli::add_nonempty(run, "NAME", name, "the lock")->required();
  cli::add_nonempty(run, "-w,--wait", wait, "how long")->type_name("TIME");
  cli::add_nonempty(run, "-E,--conflict-exit-code", exit_code, "when busy")->check(CLI::Range(0, 255));
  auto* many = cli::add_nonempty(run, "--permits", permits, "how many")->check(cli::is_positive());
  run.add_flag("-s,--shared", shared, "as a reader")->excludes(many);
  line.set_action(run, [&](const cli::context& global) {
    acted = true;
    command = global.command;
    return 7;
  });
  auto& migrate = cli::add_subcommand(line.root(), "migrate", "The schema", "rowlock migrate up");
  auto& sql = cli::add_subcommand(migrate, "sql", "Writes files", "rowlock migrate sql");
  cli::add_nonempty(sql, "--format", format, "of the files")->check(cli::is_one_of({"plain", "flyway"}));
  cli::add_nonempty(sql, "--to", to, "version");
  line.set_action(sql, [&](const cli::context&) {
    acted = true;
    return 7;
  });
  migrate.require_subcommand(1);
  line.root().require_subcommand(1);

  int code = 0;
  {
    const silence quiet;
    code = line.run(static_cast<int>(arguments.size()), arguments.data());
  }
  fuzz::demand(acted ? code == 7 : code == 0 || code == 64, "it acts, helps, or says 64");
  if (!acted) return;
  fuzz::demand(exit_code >= 0 && exit_code <= 255 && permits > 0, "an accepted number is in its range");
  fuzz::demand(format.empty() || format == "plain" || format == "flyway", "an accepted word is a known one");
  fuzz::demand(!(shared && permits != 1), "options that exclude each other are refused");
  if (command.empty()) return;
  fuzz::demand(std::vector<std::string>(words.end() - static_cast<std::ptrdiff_t>(command.size()),
                                        words.end()) == command,
               "the command is passed on as it was given");
}
