// Faults of the nodes of a Galera cluster. Each worker begins at another node, and moves on to the next one if its node
// fails.
#include "fault.hpp"

#include "step.hpp"
#include "support/history_recorder.hpp"

namespace rowlock::test {

namespace {

int some_node(scene& now) {
  return 1 + static_cast<int>(now.random() % 3);
}

// The recovery counts from the beginning of the fault, because the other nodes go on.
std::int64_t kill_node(scene& now) {
  const int victim = some_node(now);
  const auto at = history_recorder::now();
  now.where.nodes().kill(victim);
  pause(now.any(0ms, now.ttl));
  now.where.nodes().start(victim);
  return at;
}

std::int64_t isolate_node(scene& now) {
  const int victim = some_node(now);
  const auto at = history_recorder::now();
  now.where.nodes().isolate(victim);
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  now.where.nodes().rejoin(victim);
  return at;
}

// Each applier of the node waits for a table that is locked. So the node knows that the others commit, and does not
// show what they commit.
std::int64_t let_node_lag(scene& now) {
  const int victim = some_node(now);
  auto there = now.where.nodes().connect(victim);
  auto here = now.where.nodes().connect(victim % 3 + 1);
  begin_step("let a node lag");
  here.run("CREATE TABLE IF NOT EXISTS valve (id int NOT NULL PRIMARY KEY)");
  there.run("SET SESSION wsrep_sync_wait = 7");
  there.run("LOCK TABLES valve READ");
  for (auto appliers = std::stoi(there.value("SELECT @@GLOBAL.wsrep_slave_threads")); appliers > 0;
       --appliers) {
    here.run("ALTER TABLE valve COMMENT '" + std::to_string(appliers) + '/' + std::to_string(now.random()) +
             "'");
  }
  pause(now.any(now.ttl / 2, now.ttl * 3 / 2));
  there.run("UNLOCK TABLES");
  return history_recorder::now();
}

// The node that left first is behind, and the others lose what they have committed since then.
std::int64_t bootstrap_anew(scene& now) {
  const int first = some_node(now);
  now.where.nodes().stop(first);
  pause(now.any(0ms, now.ttl / 2));
  now.where.nodes().bootstrap(first);
  now.where.nodes().complete(first);
  return history_recorder::now();
}

}  // namespace

std::vector<fault> cluster_faults() {
  const std::vector<std::string> galera{"galera"};
  return {
      {"node-killed",
       "SIGKILL of a node, which is started again",
       galera,
       false,
       kill_node,
       {},
       equipment::cluster},
      {"node-isolated",
       "nothing gets from a node to the others or back for a while",
       galera,
       false,
       isolate_node,
       {},
       equipment::cluster},
      {"node-lagging",
       "a node applies nothing of what the others commit for a while",
       galera,
       false,
       let_node_lag,
       {},
       equipment::cluster},
      {"cluster-bootstrapped",
       "the cluster is started anew from a node that is behind: "
       "two may hold a lock, until one learns of its loss",
       galera,
       false,
       bootstrap_anew,
       {"exclusion", "unaware", "order", "orphan"},
       equipment::cluster,
       {},
       true},
  };
}

}  // namespace rowlock::test
