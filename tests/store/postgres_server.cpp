#include "store/postgres_server.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace rowlock::test {

namespace {

std::string binaries() {
  if (const char* given = std::getenv("ROWLOCK_TEST_POSTGRES_BIN")) return given;
  std::string newest;
  for (const auto& version : std::filesystem::directory_iterator{"/usr/lib/postgresql"}) {
    newest = std::max(newest, (version.path() / "bin").string());
  }
  return newest;
}

}  // namespace

void postgres_server::run(const std::string& command) const {
  const std::string as_user = ::geteuid() == 0 ? "runuser -u postgres -- " : "";
  const auto line = "cd " + folder_ + " && " + as_user + binaries() + "/" + command + " >> " + folder_ +
                    "/commands.log 2>&1 < /dev/null";
  if (std::system(line.c_str()) != 0) {
    std::ifstream log{folder_ + "/commands.log"};
    throw std::runtime_error(command + ": " + std::string{std::istreambuf_iterator<char>{log}, {}});
  }
}

// The server listens on a Unix socket alone, so no port can be in use already.
postgres_server::postgres_server() {
  char name[] = "/tmp/rowlock-pg.XXXXXX";
  folder_ = ::mkdtemp(name);
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  run("initdb -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync");
  std::ofstream{data() + "/postgresql.conf", std::ios::app}
      << "listen_addresses = ''\nunix_socket_directories = '" << folder_
      << "'\nshared_buffers = 16MB\nwal_writer_delay = 10s\nautovacuum = off\n";
  start();
}

postgres_server::postgres_server(const postgres_server& primary) {
  char name[] = "/tmp/rowlock-pg.XXXXXX";
  folder_ = ::mkdtemp(name);
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  run("pg_basebackup -D data -R -c fast -U postgres -h " + primary.folder_);
  std::ofstream{data() + "/postgresql.conf", std::ios::app} << "unix_socket_directories = '" << folder_
                                                            << "'\n";
  start();
}

postgres_server::~postgres_server() {
  try {
    run("pg_ctl -D data stop -m immediate -w");
  } catch (const std::exception&) {
    // The test has stopped the server.
  }
  std::filesystem::remove_all(folder_);
}

std::string postgres_server::url() const {
  return "postgresql://postgres@/postgres?host=" + folder_;
}

std::string postgres_server::log() const {
  std::ifstream file{folder_ + "/log"};
  if (!file) throw std::runtime_error("the server's log cannot be read");
  return {std::istreambuf_iterator<char>{file}, {}};
}

void postgres_server::crash() {
  run("pg_ctl -D data stop -m immediate -w");
}

void postgres_server::start() {
  run("pg_ctl -D data -l log start -w");
}

void postgres_server::promote() {
  run("pg_ctl -D data promote -w");
}

int postgres_server::postmaster() const {
  std::ifstream file{data() + "/postmaster.pid"};
  int pid = 0;
  file >> pid;
  return pid;
}

}  // namespace rowlock::test
