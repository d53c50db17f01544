// rowlock_process_worker URL PREFIX APPLICATION TTL STATEMENT CONNECT CLOSE SKEW: times in milliseconds. With
// ROWLOCK_TEST_LOG=1 the program writes rowlock's log to the standard error.
#include "commands.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>

int main(int count, char** arguments) {
  using std::chrono::milliseconds;
  using namespace std::chrono_literals;
  if (count != 9) return 64;
  rowlock::options settings;
  settings.prefix = arguments[2];
  settings.application = arguments[3];
  settings.ttl = milliseconds{std::stoll(arguments[4])};
  if (const auto limit = std::stoll(arguments[5]); limit > 0)
    settings.statement_timeout = milliseconds{limit};
  settings.connect_timeout = milliseconds{std::stoll(arguments[6])};
  settings.close_timeout = milliseconds{std::stoll(arguments[7])};
  settings.skew = milliseconds{std::stoll(arguments[8])};
  if (std::getenv("ROWLOCK_TEST_LOG")) {
    settings.log = [](rowlock::log_level, std::string_view text) {
      const auto now = std::chrono::system_clock::now().time_since_epoch() / 1ms;
      std::cerr << (std::to_string(now) + ' ' + std::to_string(::getpid()) + ' ' + std::string{text} + '\n');
    };
  }
  std::optional<rowlock::test::commands> worker;
  // A short ttl makes the time limit of a statement short, and a busy machine exceeds it.
  for (int left = 5; !worker; --left) {
    try {
      worker.emplace(arguments[1], settings);
    } catch (const std::exception& failure) {
      const auto* const known = dynamic_cast<const rowlock::error*>(&failure);
      if (known != nullptr && known->transient() && left > 1) continue;
      std::cout << failure.what() << std::endl;
      return 1;
    }
  }
  std::cout << "connected" << std::endl;
  for (std::string line; std::getline(std::cin, line);) worker->run(line);
}
