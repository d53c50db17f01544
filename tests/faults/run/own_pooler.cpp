#include "own_pooler.hpp"

#include "step.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <fstream>

namespace rowlock::test {

namespace {

// Debian has the program in the first place, other systems in the second.
constexpr const char* places[] = {"/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"};

std::string program() {
  for (const auto* place : places) {
    if (::access(place, X_OK) == 0) return place;
  }
  return {};
}

}  // namespace

bool own_pooler::is_installed() {
  return !program().empty();
}

own_pooler::own_pooler(const std::string& server) {
  std::ofstream{home_.path() + "/ini"} << "[databases]\n* = host=" << server
                                       << " user=postgres\n"
                                          "[pgbouncer]\n"
                                          "listen_port = 6432\n"
                                          "unix_socket_dir = "
                                       << home_.path()
                                       << "\n"
                                          "auth_type = any\n"
                                          "pool_mode = transaction\n"
                                          "server_round_robin = 1\n"
                                          "default_pool_size = 60\n"
                                          "ignore_startup_parameters = extra_float_digits\n";
  start();
}

void own_pooler::start() {
  const int log = home_.open_log();
  pooler_ = std::make_unique<child_process>(std::vector<std::string>{program(), "-q", home_.path() + "/ini"},
                                            home_.setup(log, SIGKILL));
  ::close(log);
  until("the pooler answers", [&] {
    if (pooler_->has_ended()) throw std::runtime_error("no pooler: " + home_.said());
    return PQping(url_.c_str()) == PQPING_OK;
  });
}

void own_pooler::end(int signal) {
  pooler_->signal(signal);
  pooler_->wait();
}

}  // namespace rowlock::test
