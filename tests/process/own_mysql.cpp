#ifdef ROWLOCK_TEST_MYSQL

#include "own_server.hpp"
#include "support/loopback.hpp"
#include "support/mysql_connection.hpp"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rowlock::test {

namespace {

// The beginning of the variables that scripts/with-mariadb and with-mysql export.
const std::string of_mariadb = "ROWLOCK_TEST_MARIADB_";
const std::string of_mysql = "ROWLOCK_TEST_MYSQL_";

class own_mysql final : public own_server {
 public:
  own_mysql(const std::string& store, const std::vector<std::string>& arguments, const std::string& within)
      : variables_{store == "mysql" ? of_mysql : of_mariadb},
        more_{arguments},
        home_{variables_ + "USER", within} {
    std::vector<std::string> install{required_environment(variables_ + "INSTALL")};
    install.push_back("--datadir=" + data());
    // MySQL stores in its data folder whether names are case-sensitive.
    for (const auto& one : more_) {
      if (one.starts_with("--lower-case-table-names=")) install.push_back(one);
    }
    home_.run(install);
    // MySQL ends at the first statement that fails, and has no users without a name.
    std::ofstream{home_.path() + "/init.sql"}
        << (store == "mariadb" ? "DELETE FROM mysql.global_priv WHERE User = '';\n"
                                 "FLUSH PRIVILEGES;\n"
                               : "")
        << "CREATE DATABASE IF NOT EXISTS rowlock_test;\n"
           "CREATE USER IF NOT EXISTS rowlock@'%' IDENTIFIED BY 'rowlock';\n"
           "GRANT ALL PRIVILEGES ON *.* TO rowlock@'%' WITH GRANT OPTION;\n"
           "CREATE USER IF NOT EXISTS application@'%' IDENTIFIED BY 'application';\n"
           "GRANT ALL PRIVILEGES ON *.* TO application@'%' WITH GRANT OPTION;\n";
    start();
  }
  ~own_mysql() override {
    go_on();
    crash();
  }

  const std::string& url() const noexcept override { return url_; }
  std::string said() const override { return home_.said(); }
  std::string local_url() const override {
    return "mysql://rowlock:rowlock@/rowlock_test?socket=" + home_.path() + "/socket";
  }

  void start() override {
    const int log = home_.open_log();
    std::vector<std::string> arguments{required_environment(variables_ + "BIN")};
    // This option must come first, and scripts/with-mysql adds it itself.
    if (variables_ == of_mariadb) arguments.emplace_back("--no-defaults");
    arguments.insert(
        arguments.end(),
        {"--datadir=" + data(), "--tmpdir=" + home_.path(), "--socket=" + home_.path() + "/socket",
         "--pid-file=" + home_.path() + "/pid", "--bind-address=127.0.0.1", "--port=" + std::to_string(port_),
         "--skip-name-resolve", "--max-connections=300", "--init-file=" + home_.path() + "/init.sql"});
    arguments.insert(arguments.end(), more_.begin(), more_.end());
    // MySQL's marker tells starts apart by their seconds (docs/design.md, "Without MEMORY tables").
    std::this_thread::sleep_until(next_second_);
    server_ = std::make_unique<child_process>(arguments, home_.setup(log, SIGKILL));
    ::close(log);
    if (!until_it_answers()) throw std::runtime_error("the server ends: " + home_.said());
    next_second_ =
        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + std::chrono::seconds{1};
  }
  void crash() override {
    if (!server_) return;
    server_->kill();
    server_.reset();
  }

  void stop() override {
    server_->signal(SIGSTOP);
    until_stopped(server_->pid());
  }
  void go_on() override {
    if (server_) server_->signal(SIGCONT);
  }

  void back_up() override {
    server_->signal(SIGTERM);
    server_->wait();
    home_.copy("data", "backup");
    start();
  }
  void restore() override {
    crash();
    home_.copy("backup", "data");
    start();
  }
  void revive() override {
    if (!until_it_answers()) start();
  }

  // Each commit is on disk: the setting that changes this belongs to the whole server, not to a session.
  bool forgets_lazy_commits() const noexcept override { return false; }

 private:
  std::string data() const { return home_.path() + "/data"; }
  // Waits until the server answers. False: it has ended by itself.
  bool until_it_answers() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    for (;;) {
      try {
        mysql_connection{url_};
        return true;
      } catch (const mysql_failure&) {
        if (server_->has_ended()) return false;
        if (std::chrono::steady_clock::now() > deadline) {
          throw std::runtime_error("no server: " + home_.said());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
    }
  }

  const std::string variables_;
  const std::vector<std::string> more_;
  server_home home_;
  const int port_ = free_port();
  const std::string url_ = "mysql://rowlock:rowlock@127.0.0.1:" + std::to_string(port_) + "/rowlock_test";
  std::chrono::system_clock::time_point next_second_{};  // after the last start
  std::unique_ptr<child_process> server_;
};

}  // namespace

std::unique_ptr<own_server> make_own_mysql(const std::string& store,
                                           const std::vector<std::string>& arguments,
                                           const std::string& within) {
  return std::make_unique<own_mysql>(store, arguments, within);
}

}  // namespace rowlock::test

#endif
