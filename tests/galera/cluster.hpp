// The three nodes of scripts/with-galera, and what befalls them.
#pragma once

#include "support/mysql_connection.hpp"

#include <signal.h>

#include <string>
#include <vector>

namespace rowlock::test {

// Nodes are numbered from 1, as their folders are. Members throw std::runtime_error.
class cluster {
 public:
  // Needs what scripts/with-galera exports.
  cluster();

  std::string url(int node, const std::string& database = "rowlock_test") const;
  mysql_connection connect(int node) const { return mysql_connection{as_application(url(node))}; }

  // The node's process ends at once, or in peace; returns when the others have noticed. start() gives it
  // back, and returns when all three answer.
  void kill(int node) const { end(node, SIGKILL); }
  void stop(int node) const { end(node, SIGTERM); }
  void start(int node) const;
  // Of a node that was stopped: the others end at once, and a cluster is begun from what it has; returns when
  // it answers. complete() gives the others back, with its data and nothing of their own.
  void bootstrap(int node) const;
  void complete(int node) const;
  // Nothing from the others reaches it, and nothing of its own leaves it; its clients do. Returns when both
  // sides have noticed.
  void isolate(int node) const;
  void rejoin(int node) const;
  // Whether the third node's clock can be set apart.
  bool has_clock() const;
  // As "+5", in seconds; returns when the third node's server says so.
  void set_clock(const std::string& later) const;

  // All nodes are there and in order, whatever a test before has left.
  void repair() const;

 private:
  std::string folder(int node) const { return folder_ + "/node" + std::to_string(node); }
  pid_t pid(int node) const;  // 0: it does not run
  void end(int node, int signal) const;
  void run(int node, const std::string& options = {}) const;
  // Whether the node sees so many, itself included, and takes statements.
  bool is_ready(int node, int size) const;
  void until_whole() const;

  std::vector<std::string> urls_;
  std::string folder_;
};

}  // namespace rowlock::test
