// A server of a test's own, for what would disturb everybody else: crashes and standstills.
#pragma once

#include "child_process.hpp"

#include <sys/types.h>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

class own_server {
 public:
  own_server() = default;
  own_server(const own_server&) = delete;
  own_server& operator=(const own_server&) = delete;
  virtual ~own_server() = default;

  virtual const std::string& url() const noexcept = 0;
  // By its Unix socket.
  virtual std::string local_url() const = 0;

  virtual void start() = 0;  // and until it answers
  // Every process of it ends at once, and nothing is written.
  virtual void crash() = 0;

  // The whole server, every process of it: its kernel still takes what is sent, and nobody answers.
  virtual void stop() = 0;
  virtual void go_on() = 0;

  // Commits that were answered before they were on disk stay lost in a crash.
  virtual bool forgets_lazy_commits() const noexcept = 0;
};

// Both are durable as by default, reached by a Unix socket or a loopback port, and need what
// scripts/with-postgres or with-mariadb exports. Throw std::runtime_error with what the server said.
std::unique_ptr<own_server> make_own_postgres();
// arguments: more of them for the server, stronger than its usual ones.
std::unique_ptr<own_server> make_own_mariadb(const std::vector<std::string>& arguments = {});

// A folder for it, and the user that it runs as: servers refuse to run as root.
class server_home {
 public:
  // user: the environment's variable that names it.
  explicit server_home(const char* user_variable);
  ~server_home();
  server_home(const server_home&) = delete;
  server_home& operator=(const server_home&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string said() const;  // what went to its log
  child_setup setup(int output, int at_parents_death) const;
  int open_log() const;  // the caller closes it
  // Runs a program as that user, with its output in the log, to its end. Throws when it fails.
  void run(const std::vector<std::string>& arguments) const;

 private:
  std::string path_{"/tmp/rowlock-own.XXXXXX"};
  uid_t user_ = 0;
  gid_t group_ = 0;
};

// Throws when it is not set: the tests do not run under scripts/with-….
std::string required_environment(const char* name);

}  // namespace rowlock::test
