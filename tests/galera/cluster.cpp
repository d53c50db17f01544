#include "cluster.hpp"

#include "galera_test.hpp"

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

constexpr auto patience = std::chrono::seconds{120};

}  // namespace

cluster::cluster() : folder_{from_environment("ROWLOCK_TEST_GALERA_FOLDER")} {
  std::istringstream words{from_environment("ROWLOCK_TEST_GALERA_URLS")};
  for (std::string url; words >> url;) urls_.push_back(url);
  if (urls_.size() != 3) throw std::runtime_error("ROWLOCK_TEST_GALERA_URLS names no three nodes");
}

std::string cluster::url(int node, const std::string& database) const {
  return with_database(urls_.at(static_cast<std::size_t>(node - 1)), database);
}

process_handle cluster::process(int node) const {
  pid_t found = 0;
  std::ifstream{folder(node) + "/pid"} >> found;
  if (found <= 0) return {};
  process_handle made{found};
  // The file may be that of a node that was killed.
  std::stringstream command;
  command << std::ifstream{"/proc/" + std::to_string(found) + "/cmdline"}.rdbuf();
  return command.str().find(folder(node)) == std::string::npos ? process_handle{} : std::move(made);
}

void cluster::run(int node, const std::string& options) const {
  const auto command =
      from_environment("ROWLOCK_TEST_GALERA_START") + ' ' + std::to_string(node) + ' ' + options;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("the node does not start");
}

void cluster::end(int node, int signal) const {
  const auto ended = process(node);
  if (!ended.signal(signal)) throw std::runtime_error("the node does not run");
  const int other = node % 3 + 1;
  until(
      "the others have noticed", [&] { return !ended.runs() && is_ready(other, 2); }, patience);
}

void cluster::start(int node) const {
  run(node);
  until_whole();
}

void cluster::bootstrap(int node) const {
  for (const int each : {1, 2, 3}) {
    const auto ended = process(each);
    ended.signal(SIGKILL);
    until(
        "it has ended", [&] { return !ended.runs(); }, patience);
  }
  // Without this change the node refuses, because it was not the last one to leave.
  const auto file = folder(node) + "/data/grastate.dat";
  std::stringstream text;
  text << std::ifstream{file}.rdbuf();
  std::ofstream{file} << replace_all(text.str(), "safe_to_bootstrap: 0", "safe_to_bootstrap: 1");
  run(node, "--wsrep-new-cluster");
  until(
      "it is a cluster of its own", [&] { return is_ready(node, 1); }, patience);
}

void cluster::complete(int node) const {
  for (const int other : {node % 3 + 1, (node + 1) % 3 + 1}) {
    for (const auto& entry : std::filesystem::directory_iterator{folder(other) + "/data"}) {
      std::filesystem::remove_all(entry.path());
    }
    run(other);
    until(
        "it has the data", [&] { return is_ready(other, 2) || is_ready(other, 3); }, patience);
  }
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
  // The file is replaced in one step, because the server may read it at any moment.
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
    // A node that gives its data to another one is ready, too, but applies nothing meanwhile.
    return status("wsrep_ready") == "ON" && status("wsrep_local_state_comment") == "Synced" &&
           status("wsrep_cluster_size") == std::to_string(size);
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
