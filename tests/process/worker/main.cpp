// rowlock_process_worker URL PREFIX APPLICATION TTL STATEMENT CONNECT CLOSE: times in milliseconds.
#include "commands.hpp"

#include <iostream>
#include <optional>

int main(int count, char** arguments) {
  using std::chrono::milliseconds;
  if (count != 8) return 64;
  rowlock::options settings;
  settings.prefix = arguments[2];
  settings.application = arguments[3];
  settings.ttl = milliseconds{std::stoll(arguments[4])};
  if (const auto limit = std::stoll(arguments[5]); limit > 0)
    settings.statement_timeout = milliseconds{limit};
  settings.connect_timeout = milliseconds{std::stoll(arguments[6])};
  settings.close_timeout = milliseconds{std::stoll(arguments[7])};
  std::optional<rowlock::test::commands> worker;
  try {
    worker.emplace(arguments[1], settings);
  } catch (const std::exception& failure) {
    std::cout << failure.what() << std::endl;
    return 1;
  }
  std::cout << "connected" << std::endl;
  for (std::string line; std::getline(std::cin, line);) worker->run(line);
}
