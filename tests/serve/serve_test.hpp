// `rowlock serve` over a fresh, migrated database of each SQL store.
#pragma once

#include "cli/cli_test.hpp"
#include "serve/http_client.hpp"

#include <memory>
#include <string>

namespace rowlock::test {

struct served {
  std::unique_ptr<command_process> process;
  std::uint16_t port = 0;

  http_answer get(const std::string& path, const std::string& headers = {}) const {
    return http_get(port, path, headers);
  }
};

// Waits until it listens.
inline served started(std::unique_ptr<command_process> process) {
  for (;;) {
    const auto line = process->read_error_line();
    const auto at = line.find("listening on http://");
    if (at == std::string::npos) continue;
    return {std::move(process), static_cast<std::uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)))};
  }
}

class serve_test : public cli_test {
 protected:
  served start_serve(const words& options = {}) {
    // The tests ask again and again, from one address.
    words all{"serve", "--listen", "127.0.0.1:0", "--rate", "0"};
    all.insert(all.end(), options.begin(), options.end());
    return started(start(all));
  }

  // The lines of /metrics that begin with this, once there are any.
  static std::string metrics_of(const served& one, const std::string& begin) {
    std::string found;
    eventually("the metrics are there", [&] {
      std::istringstream lines{one.get("/metrics").body};
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(begin)) found += line + '\n';
      }
      return !found.empty();
    });
    return found;
  }
};

}  // namespace rowlock::test
