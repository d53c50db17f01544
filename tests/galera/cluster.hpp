// The three nodes of scripts/with-galera, and the faults that tests cause in them.
#pragma once

#include "support/mysql_connection.hpp"
#include "support/process_handle.hpp"

#include <signal.h>

#include <string>
#include <vector>

namespace rowlock::test {

// Nodes are numbered from 1, like their folders. Members throw std::runtime_error.
class cluster {
 public:
  // Reads the variables that scripts/with-galera exports.
  cluster();

  std::string url(int node, const std::string& database = "rowlock_test") const;
  mysql_connection connect(int node) const { return mysql_connection{as_application(url(node))}; }

  // Ends the node's process, at once or normally; returns when the other nodes have noticed. start() starts the node
  // again, and returns when all three answer.
  void kill(int node) const { end(node, SIGKILL); }
  void stop(int node) const { end(node, SIGTERM); }
  void start(int node) const;
  // Requires: the node was stopped. The other nodes end at once, and a cluster starts from this node's data; returns
  // when the node answers. complete() starts the others again, with this node's data and none of their own.
  void bootstrap(int node) const;
  void complete(int node) const;
  // Nothing from the other nodes reaches the node, and nothing that it sends reaches them; its clients still reach it.
  // Returns when both sides have noticed.
  void isolate(int node) const;
  void rejoin(int node) const;
  // Whether the third node's clock can be changed.
  bool has_clock() const;
  // later: in seconds, as "+5". Returns when the third node's server shows it.
  void set_clock(const std::string& later) const;

  // Brings all nodes back into order, whatever an earlier test has left.
  void repair() const;

 private:
  std::string folder(int node) const { return folder_ + "/node" + std::to_string(node); }
  process_handle process(int node) const;
  void end(int node, int signal) const;
  void run(int node, const std::string& options = {}) const;
  // Whether the node sees this many nodes, itself included, and takes statements.
  bool is_ready(int node, int size) const;
  void until_whole() const;

  std::vector<std::string> urls_;
  std::string folder_;
};

}  // namespace rowlock::test
