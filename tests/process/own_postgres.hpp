// A PostgreSQL server of a test's own, for what would disturb everybody else: crashes and standstills.
#pragma once

#include "child_process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

class own_postgres {
 public:
  // Durable as by default, and reached by a Unix socket in its folder. Needs ROWLOCK_TEST_POSTGRES_BIN.
  // settings: lines of postgresql.conf. Throws std::runtime_error with what the server said.
  explicit own_postgres(const std::vector<std::string>& settings = {});
  ~own_postgres();
  own_postgres(const own_postgres&) = delete;
  own_postgres& operator=(const own_postgres&) = delete;

  const std::string& url() const noexcept { return url_; }

  void start();  // and until it answers
  // What `pg_ctl stop -m immediate` does: every process ends at once and nothing is written.
  void crash();

  // The whole server, every process of it: its kernel still takes what is sent, and nobody answers.
  void stop();
  void go_on();

 private:
  struct folder {
    folder();
    ~folder();
    std::string path;
  };

  child_setup setup(int output) const;
  std::string said() const;
  std::vector<pid_t> backends() const;

  folder folder_;
  std::string bin_;
  std::string url_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  std::unique_ptr<child_process> postmaster_;
  std::vector<pid_t> stopped_;
};

}  // namespace rowlock::test
