// A PgBouncer in front of a server.
#pragma once

#include "own_server.hpp"

#include <memory>
#include <string>

namespace rowlock::test {

class own_pooler {
 public:
  static bool is_installed();

  // Runs in transaction mode. server: the folder of the server's Unix socket. Throws std::runtime_error, like every
  // member.
  explicit own_pooler(const std::string& server);

  const std::string& url() const noexcept { return url_; }
  void start();  // returns when the pooler answers
  // Ends the pooler, and with it every connection through it.
  void end(int signal);

 private:
  const server_home home_{"ROWLOCK_TEST_POSTGRES_USER"};
  const std::string url_ = "postgresql:///postgres?user=postgres&port=6432&host=" + home_.path();
  std::unique_ptr<child_process> pooler_;
};

}  // namespace rowlock::test
