#include "cluster.hpp"

#include "galera_test.hpp"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace rowlock::test {

namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value)
    throw std::runtime_error(std::string{name} + " is not set: run under scripts/with-galera");
  return value;
}

constexpr auto patience = std::chrono::seconds{40};

}  // namespace

cluster::cluster() : folder_{from_environment("ROWLOCK_TEST_GALERA_FOLDER")} {
  std::istringstream words{from_environment("ROWLOCK_TEST_GALERA_URLS")};
  for (std::string url; words >> url;) urls_.push_back(url);
  if (urls_.size() != 3) throw std::runtime_error("ROWLOCK_TEST_GALERA_URLS names no three nodes");
}

std::string cluster::url(int node, const std::string& database) const {
  return with_database(urls_.at(static_cast<std::size_t>(node - 1)), database);
}

void cluster::kill(int node) const {
  pid_t pid = 0;
  std::ifstream{folder(node) + "/pid"} >> pid;
  if (pid <= 0 || ::kill(pid, SIGKILL) != 0) throw std::runtime_error("the node does not run");
  const int other = node % 3 + 1;
  until(
      "the others have noticed", [&] { return ::kill(pid, 0) != 0 && is_ready(other, 2); }, patience);
}

void cluster::start(int node) const {
  const auto command = from_environment("ROWLOCK_TEST_GALERA_START") + ' ' + std::to_string(node);
  if (std::system(command.c_str()) != 0) throw std::runtime_error("the node does not start");
  until_whole();
}

void cluster::isolate(int node) const {
  connect(node).run("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'");
  const int other = node % 3 + 1;
  until(
      "both sides have noticed", [&] { return is_ready(other, 2) && !is_ready(node, 3); }, patience);
}

void cluster::rejoin(int node) const {
  connect(node).run("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'");
  until_whole();
}

bool cluster::has_clock() const {
  const char* preload = std::getenv("ROWLOCK_TEST_GALERA_FAKETIME");
  return preload && *preload;
}

void cluster::set_clock(const std::string& later) const {
  // In one step: the server may read it at any moment.
  const auto file = folder(3) + "/clock";
  std::ofstream{file + ".new"} << later << '\n';
  std::filesystem::rename(file + ".new", file);
  auto there = connect(3);
  auto here = connect(1);
  const auto wanted = std::stod(later) * 1e6;
  until(
      "the clock is " + later + " s later",
      [&] {
        const auto now = "SELECT timestampdiff(MICROSECOND, '1970-01-01', sysdate(6))";
        return std::abs(std::stod(there.value(now)) - std::stod(here.value(now)) - wanted) < 500'000;
      },
      patience);
}

bool cluster::is_ready(int node, int size) const {
  try {
    auto connection = connect(node);
    const auto status = [&](const std::string& name) {
      const auto rows = connection.run("SHOW STATUS LIKE '" + name + "'");
      return rows.empty() ? std::string{} : rows[0].at(1);
    };
    return status("wsrep_ready") == "ON" && status("wsrep_cluster_size") == std::to_string(size);
  } catch (const std::exception&) {
    return false;
  }
}

void cluster::until_whole() const {
  until(
      "all nodes are in order", [&] { return is_ready(1, 3) && is_ready(2, 3) && is_ready(3, 3); }, patience);
}

void cluster::repair() const {
  if (has_clock()) set_clock("+0");
  until_whole();
}

}  // namespace rowlock::test
