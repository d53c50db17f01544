#ifdef ROWLOCK_TEST_POSTGRES

#include "own_server.hpp"
#include "support/process_handle.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace rowlock::test {

namespace {

class own_postgres final : public own_server {
 public:
  // Makes a standby of `primary`.
  explicit own_postgres(const own_server& primary) : home_{"ROWLOCK_TEST_POSTGRES_USER"} {
    const auto url = primary.url();
    home_.run({bin_ + "/pg_basebackup", "-d", url, "-D", data(), "-R", "-X", "stream", "-c", "fast"});
    start();
  }
  explicit own_postgres(const std::vector<std::string>& initdb = {}, const std::string& settings = {},
                        const std::string& within = "/tmp")
      : home_{"ROWLOCK_TEST_POSTGRES_USER", within} {
    std::vector<std::string> words{
        bin_ + "/initdb",   "-D",       data(), "-U", "postgres", "-A", "trust", "-E", "UTF8",
        "--locale=C.UTF-8", "--no-sync"};
    words.insert(words.end(), initdb.begin(), initdb.end());
    home_.run(words);
    std::ofstream{data() + "/postgresql.conf", std::ios::app}
        << "listen_addresses = ''\n"
           // Only renewals bring releases to the disk, so a crash can lose releases.
           "wal_writer_delay = 10s\n"
        << settings;
    start();
  }
  ~own_postgres() override {
    go_on();
    crash();
  }

  const std::string& url() const noexcept override { return url_; }
  std::string said() const override { return home_.said(); }
  std::string local_url() const override { return url_; }

  void start() override {
    // A server that was killed leaves the number of its process there, and the next one does not start if a process of
    // any other server has that number by then.
    for (const auto* left : {"/data/postmaster.pid", "/.s.PGSQL.5432.lock"})
      std::filesystem::remove(home_.path() + left);
    const int log = home_.open_log();
    postmaster_ = std::make_unique<child_process>(
        std::vector<std::string>{bin_ + "/postgres", "-D", data(), "-k", home_.path()},
        home_.setup(log, SIGQUIT));
    ::close(log);
    if (!until_it_answers()) throw std::runtime_error("the server ends: " + home_.said());
  }
  // Does what `pg_ctl stop -m immediate` does.
  void crash() override {
    if (!postmaster_) return;
    postmaster_->signal(SIGQUIT);
    postmaster_->wait();
    postmaster_.reset();
  }

  void kill() override {
    // The postmaster is stopped first, so that it neither starts more processes nor ends them by itself.
    stop();
    const auto all = std::exchange(stopped_, {});
    for (const auto& one : all) one.signal(SIGKILL);
    postmaster_->kill();
    postmaster_.reset();
    // The server does not start again while one of them uses its shared memory.
    for (const auto& one : all) one.wait();
  }

  void stop() override {
    // The postmaster stops first, so that it starts no more processes.
    stopped_.clear();
    stop_one(postmaster_->pid());
    for (const pid_t backend : backends()) stop_one(backend);
  }
  void go_on() override {
    for (const auto& one : stopped_) one.signal(SIGCONT);
    stopped_.clear();
  }

  void back_up() override {
    std::filesystem::remove_all(home_.path() + "/backup");
    home_.run(
        {bin_ + "/pg_basebackup", "-d", url_, "-D", home_.path() + "/backup", "-X", "stream", "-c", "fast"});
  }
  void restore() override {
    kill();
    home_.copy("backup", "data");
    start();
  }
  void revive() override {
    if (!until_it_answers()) start();
  }

  bool forgets_lazy_commits() const noexcept override { return true; }

 private:
  std::string data() const { return home_.path() + "/data"; }
  // Waits until the server answers. False: it has ended by itself.
  bool until_it_answers() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (PQping(url_.c_str()) != PQPING_OK) {
      if (postmaster_->has_ended()) return false;
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("no server: " + home_.said());
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return true;
  }
  void stop_one(pid_t pid) {
    stopped_.emplace_back(pid).signal(SIGSTOP);
    until_stopped(pid);
  }
  std::vector<pid_t> backends() const {
    const auto pid = std::to_string(postmaster_->pid());
    std::ifstream file{"/proc/" + pid + "/task/" + pid + "/children"};
    std::vector<pid_t> found;
    for (pid_t child; file >> child;) found.push_back(child);
    if (found.empty()) throw std::runtime_error("the server's processes cannot be found");
    return found;
  }

  const std::string bin_ = required_environment("ROWLOCK_TEST_POSTGRES_BIN");
  server_home home_;
  const std::string url_ = "postgresql:///postgres?user=postgres&host=" + home_.path();
  std::unique_ptr<child_process> postmaster_;
  std::vector<process_handle> stopped_;
};

}  // namespace

std::unique_ptr<own_server> make_own_postgres() {
  return std::make_unique<own_postgres>();
}

std::unique_ptr<own_server> make_own_postgres_on_small_disk(const std::string& folder) {
  const auto settings = "min_wal_size = 2MB\nmax_wal_size = 4MB\n";
  return std::make_unique<own_postgres>(std::vector<std::string>{"--wal-segsize=1"}, settings, folder);
}

std::unique_ptr<own_server> make_own_postgres_standby(const own_server& primary) {
  return std::make_unique<own_postgres>(primary);
}

}  // namespace rowlock::test

#endif
