#ifdef ROWLOCK_TEST_POSTGRES

#include "own_postgres.hpp"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rowlock::test {

namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) {
    throw std::runtime_error(std::string{name} +
                             " is not set: run under scripts/with-postgres, or leave PostgreSQL out with "
                             "--stores=sqlite");
  }
  return value;
}

}  // namespace

// Short and outside of TMPDIR, for a Unix socket's path may have 107 bytes.
own_postgres::folder::folder() : path{"/tmp/rowlock-own.XXXXXX"} {
  if (!::mkdtemp(path.data())) throw std::runtime_error("cannot make a folder like " + path);
}

own_postgres::folder::~folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

own_postgres::own_postgres(const std::vector<std::string>& settings)
    : bin_{from_environment("ROWLOCK_TEST_POSTGRES_BIN")} {
  url_ = "postgresql:///postgres?user=postgres&host=" + folder_.path;
  if (::geteuid() == 0) {
    // The server refuses to run as root.
    const char* name = std::getenv("ROWLOCK_TEST_POSTGRES_USER");
    const auto* entry = ::getpwnam(name && *name ? name : "postgres");
    if (!entry) throw std::runtime_error("there is no user that the server could run as");
    user_ = entry->pw_uid;
    group_ = entry->pw_gid;
    if (::chown(folder_.path.c_str(), user_, group_) != 0) throw std::runtime_error("chown failed");
  }
  const int log = ::open((folder_.path + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  child_process made{{bin_ + "/initdb", "-D", folder_.path + "/data", "-U", "postgres", "-A", "trust", "-E",
                      "UTF8", "--locale=C.UTF-8", "--no-sync"},
                     setup(log)};
  const int status = made.wait();
  ::close(log);
  if (status != 0) throw std::runtime_error("initdb failed: " + said());
  std::ofstream configuration{folder_.path + "/data/postgresql.conf", std::ios::app};
  configuration << "listen_addresses = ''\nunix_socket_directories = '" << folder_.path << "'\n";
  for (const auto& line : settings) configuration << line << '\n';
  configuration.close();
  start();
}

own_postgres::~own_postgres() {
  go_on();
  crash();
}

child_setup own_postgres::setup(int output) const {
  child_setup made;
  made.out = made.err = output;
  made.user = user_;
  made.group = group_;
  made.at_parents_death = SIGQUIT;
  return made;
}

std::string own_postgres::said() const {
  std::ostringstream text;
  text << std::ifstream{folder_.path + "/log"}.rdbuf();
  return text.str();
}

void own_postgres::start() {
  const int log = ::open((folder_.path + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  postmaster_ = std::make_unique<child_process>(
      std::vector<std::string>{bin_ + "/postgres", "-D", folder_.path + "/data"}, setup(log));
  ::close(log);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (PQping(url_.c_str()) != PQPING_OK) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("no server: " + said());
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

void own_postgres::crash() {
  if (!postmaster_) return;
  postmaster_->signal(SIGQUIT);
  postmaster_->wait();
  postmaster_.reset();
}

std::vector<pid_t> own_postgres::backends() const {
  const auto pid = std::to_string(postmaster_->pid());
  std::ifstream file{"/proc/" + pid + "/task/" + pid + "/children"};
  std::vector<pid_t> found;
  for (pid_t child; file >> child;) found.push_back(child);
  if (found.empty()) throw std::runtime_error("the server's processes cannot be found");
  return found;
}

void own_postgres::stop() {
  // The postmaster first, so that it starts no more of them.
  stopped_ = {postmaster_->pid()};
  postmaster_->signal(SIGSTOP);
  until_stopped(postmaster_->pid());
  for (const pid_t backend : backends()) {
    stopped_.push_back(backend);
    ::kill(backend, SIGSTOP);
    until_stopped(backend);
  }
}

void own_postgres::go_on() {
  for (const pid_t pid : stopped_) ::kill(pid, SIGCONT);
  stopped_.clear();
}

}  // namespace rowlock::test

#endif
