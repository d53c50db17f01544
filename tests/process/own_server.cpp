#include "own_server.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace rowlock::test {

// The path is short and outside of TMPDIR, because the path of a Unix socket has at most 107 bytes.
server_home::server_home(const std::string& user_variable, const std::string& within)
    : path_{within + "/rowlock-own.XXXXXX"} {
  if (!::mkdtemp(path_.data())) throw std::runtime_error("cannot make a folder like " + path_);
  if (::geteuid() != 0) return;
  const auto* entry = ::getpwnam(required_environment(user_variable).c_str());
  if (!entry) throw std::runtime_error("there is no user that the server could run as");
  user_ = entry->pw_uid;
  group_ = entry->pw_gid;
  if (::chown(path_.c_str(), user_, group_) != 0) throw std::runtime_error("chown failed");
}

server_home::~server_home() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string server_home::said() const {
  std::ostringstream text;
  text << std::ifstream{path_ + "/log"}.rdbuf();
  return text.str();
}

child_setup server_home::setup(int output, int at_parents_death) const {
  child_setup made;
  made.out = made.err = output;
  made.user = user_;
  made.group = group_;
  made.at_parents_death = at_parents_death;
  return made;
}

int server_home::open_log() const {
  return ::open((path_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

void server_home::run(const std::vector<std::string>& arguments) const {
  const int log = open_log();
  child_process made{arguments, setup(log, SIGKILL)};
  const int status = made.wait();
  ::close(log);
  if (status != 0) throw std::runtime_error(arguments[0] + " failed: " + said());
}

void server_home::copy(const std::string& from, const std::string& to) const {
  std::filesystem::remove_all(path_ + '/' + to);
  run({"/bin/cp", "-a", path_ + '/' + from, path_ + '/' + to});
}

std::string required_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (!value || !*value) {
    throw std::runtime_error(
        name +
        " is not set: run under scripts/with-postgres, scripts/with-mariadb and scripts/with-mysql, or leave "
        "their stores out with --stores=sqlite");
  }
  return value;
}

}  // namespace rowlock::test
