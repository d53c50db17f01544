// A PostgreSQL server of the test's own, which asks for passwords. The server of ROWLOCK_TEST_POSTGRES_URL
// may trust everybody, and must not be stopped.
#pragma once

#include "support/temporary_folder.hpp"

#include <string>

namespace rowlock::test {

class scram_server {
 public:
  scram_server();  // throws std::runtime_error when initdb and pg_ctl are not there
  ~scram_server();
  scram_server(const scram_server&) = delete;
  scram_server& operator=(const scram_server&) = delete;

  // The URL of the server's Unix socket.
  std::string url(const std::string& user, const std::string& password) const;
  void run(const std::string& sql) const;  // as the superuser

 private:
  temporary_folder folder_;
};

}  // namespace rowlock::test
