// `rowlock serve` over a fresh, migrated database of each SQL store.
#pragma once

#include "cli/cli_test.hpp"
#include "serve/http_client.hpp"
#include "serve/tokens.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <fstream>

#include <memory>
#include <string>

namespace rowlock::test {

struct served {
  std::unique_ptr<command_process> process;
  std::uint16_t port = 0;

  http_answer get(const std::string& path, const std::string& headers = {}) const {
    return http_get(port, path, headers);
  }
  // Another method, with a body. headers: as http_client::ask.
  http_answer ask(const std::string& method, const std::string& path, const nlohmann::json& body,
                  const std::string& headers = {}, const std::string& type = "application/json") const {
    http_client client{port};
    client.send(request_text(method, path, body, headers, type));
    return client.read();
  }
  static std::string request_text(const std::string& method, const std::string& path,
                                  const nlohmann::json& body, const std::string& headers,
                                  const std::string& type = "application/json") {
    const auto text = body.dump();
    return method + ' ' + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: " + type +
           "\r\nContent-Length: " + std::to_string(text.size()) + "\r\n" + headers + "\r\n" + text;
  }
};

inline std::string bearer(const serve::new_token& one) {
  return "Authorization: Bearer " + one.token + "\r\n";
}

// Every byte is percent-encoded.
inline std::string encoded(const std::string& text) {
  static constexpr auto* digits = "0123456789ABCDEF";
  std::string result;
  for (const unsigned char byte : text) (((result += '%') += digits[byte >> 4]) += digits[byte & 15]);
  return result;
}

// Waits until it listens.
inline served started(std::unique_ptr<command_process> process) {
  for (;;) {
    const auto line = process->read_error_line();
    const auto at = line.find("listening on http://");
    if (at == std::string::npos) continue;
    return {std::move(process), static_cast<std::uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)))};
  }
}

// The path of a file in the folder with the tokens; it is written once.
inline std::string token_file(const temporary_folder& folder, const std::vector<serve::new_token>& all) {
  const auto path = folder.path() / "tokens";
  if (!std::filesystem::exists(path)) {
    std::ofstream file{path};
    for (const auto& one : all) file << one.line << '\n';
    file.close();
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  }
  return path;
}

class serve_test : public cli_test {
 protected:
  served start_serve(const words& options = {}) {
    // The tests ask again and again, from one address.
    words all{"serve", "--listen", "127.0.0.1:0", "--rate", "0"};
    all.insert(all.end(), options.begin(), options.end());
    return started(start(all));
  }

  // With the tokens of these lines in its file.
  served start_with_tokens(const std::vector<serve::new_token>& all, words options = {}) {
    options.insert(options.end(), {"--tokens", token_file(token_folder, all)});
    return start_serve(options);
  }

  // A client of the same database.
  client client_beside_it() const {
    options settings;
    settings.prefix = store->options().prefix;
    settings.close_timeout = std::chrono::seconds{20};
    return connect(store->url(), settings);
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

  const temporary_folder token_folder;
};

}  // namespace rowlock::test
