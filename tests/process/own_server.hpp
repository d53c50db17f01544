// A server that belongs to one test, for faults that would disturb other tests: crashes and standstills.
#pragma once

#include "child_process.hpp"
#include "support/stores.hpp"

#include <sys/types.h>
#include <map>
#include <memory>
#include <stdexcept>
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
  // The URL of its Unix socket.
  virtual std::string local_url() const = 0;
  // The text of its log.
  virtual std::string said() const = 0;

  virtual void start() = 0;  // returns when the server answers
  // Ends every process of the server at once; nothing more is written. PostgreSQL is asked to end, as by an immediate
  // shutdown.
  virtual void crash() = 0;
  // Sends SIGKILL to every process of the server.
  virtual void kill() { crash(); }

  // Stops every process of the server. The kernel still accepts what clients send, and nobody answers.
  virtual void stop() = 0;
  virtual void go_on() = 0;

  // Copies the server's data; the next copy replaces this one. PostgreSQL goes on meanwhile (pg_basebackup); MariaDB
  // and MySQL are shut down for the copy and started again.
  virtual void back_up() = 0;
  // Kills the server, and starts it with the copied data.
  virtual void restore() = 0;
  // Returns when the server answers; starts it if it has ended by itself.
  virtual void revive() = 0;

  // Whether a crash loses commits that were answered before they were on disk.
  virtual bool forgets_lazy_commits() const noexcept = 0;
};

// The servers are durable as by default and listen on a Unix socket or a loopback port. They need the variables that
// scripts/with-postgres, with-mariadb or with-mysql exports. The functions throw std::runtime_error with the server's
// message.
std::unique_ptr<own_server> make_own_postgres();
// Makes a server in a folder on a small disk. It has little log, in small files, so that a full disk affects it soon.
std::unique_ptr<own_server> make_own_postgres_on_small_disk(const std::string& folder);
// Makes a standby of a server that make_own_postgres() or this function has made: asynchronous unless the primary's
// settings say otherwise.
std::unique_ptr<own_server> make_own_postgres_standby(const own_server& primary);
// store: mariadb or mysql. arguments: further arguments for the server; they override its usual ones. within: the
// folder in which the server gets its own.
std::unique_ptr<own_server> make_own_mysql(const std::string& store,
                                           const std::vector<std::string>& arguments = {},
                                           const std::string& within = "/tmp");
// store: postgres, mariadb or mysql.
inline std::unique_ptr<own_server> make_own_server(const std::string& store) {
#ifdef ROWLOCK_TEST_POSTGRES
  if (store == "postgres") return make_own_postgres();
#endif
#ifdef ROWLOCK_TEST_MYSQL
  if (has_mysql_dialect(store)) return make_own_mysql(store);
#endif
  throw std::runtime_error("no server for " + store);
}

// Servers of MariaDB and MySQL that the tests of a suite share, one of each kind. If the object is static,
// TearDownTestSuite() must call clear(): the program ends whatever processes are left at its end.
class own_servers {
 public:
  // arguments: as for make_own_mysql; only the first call for a store reads them.
  own_server& get(const std::string& store, const std::vector<std::string>& arguments = {}) {
    auto& one = made_[store];
    if (!one) one = make_own_mysql(store, arguments);
    return *one;
  }
  void clear() { made_.clear(); }

 private:
  std::map<std::string, std::unique_ptr<own_server>> made_;
};

// A folder for the server, and the user that it runs as: servers refuse to run as root.
class server_home {
 public:
  // user_variable: the environment variable that names the user.
  explicit server_home(const std::string& user_variable, const std::string& within = "/tmp");
  ~server_home();
  server_home(const server_home&) = delete;
  server_home& operator=(const server_home&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string said() const;  // the text of its log
  child_setup setup(int output, int at_parents_death) const;
  int open_log() const;  // the caller closes it
  // Runs a program as that user until the program ends, with its output in the log. Throws if the program fails.
  void run(const std::vector<std::string>& arguments) const;
  // Copies a folder of the home, and replaces the folder `to`.
  void copy(const std::string& from, const std::string& to) const;

 private:
  std::string path_;
  uid_t user_ = 0;
  gid_t group_ = 0;
};

// Throws if the variable is not set, because the tests do not run under scripts/with-….
std::string required_environment(const std::string& name);

}  // namespace rowlock::test
