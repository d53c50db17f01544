// The scenarios of `rowlock-bench`. Each is measured beside its floor in the same run, so that a busy machine
// slows both.
#pragma once

#include <rowlock/rowlock.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::bench {

struct plan {
  std::string url;
  rowlock::options settings;  // prefix and schema are used; ttl and the like belong to the scenarios
  std::optional<int> threads;
  std::int64_t capacity = 8;  // of semaphore
  int rounds = 5;
  std::optional<std::chrono::milliseconds> slice;  // of one measurement; each scenario has a default
};

struct result {
  std::string scenario;
  int threads = 1;
  std::string unit;
  double rowlock = 0;
  double floor = 0;
  std::string durability;
  nlohmann::ordered_json details = nlohmann::ordered_json::object();

  double ratio() const { return floor == 0 ? 0 : rowlock / floor; }
};

// Pairs of acquire and release by one thread, against one connection that commits two updates a pair.
std::vector<result> uncontended(const plan& plan);
// As `uncontended`, by many threads of one process, each with a name of its own, against the best of 4, 16 and 64
// connections.
std::vector<result> parallel(const plan& plan);
// As `parallel`, by 64 threads that do not wait for their releases (release_async); against the same with release().
std::vector<result> later(const plan& plan);
// As `parallel`, by 1,000 and 10,000 coroutines instead of threads.
std::vector<result> tasks(const plan& plan);
// Pairs of acquire and release of one mutex by 16 threads of one process, and by 4 processes with 4 threads each; against
// 16 connections that update one and the same row twice.
std::vector<result> hot(const plan& plan);
// 16 threads acquire and release random ones of 1,000,000 names, against the same with 1,000 names.
std::vector<result> names(const plan& plan);
// As `parallel` with 16 threads, while a transaction keeps an old snapshot open; against the same without it.
std::vector<result> churn(const plan& plan);
// Pairs of acquire and release of one name by threads of two clients, unfair against fair.
std::vector<result> unfair(const plan& plan);
// Pairs of acquire and release of 2, 8 and 32 names together, against two transactions with that many updates each.
std::vector<result> all(const plan& plan);
// 1 and 16 threads of one process read one name of a shared_mutex, and every twentieth call writes; against 1
// connection, and the best of 4, 16 and 64, that inserts and deletes a row for a reader, and updates one
// twice for a writer.
std::vector<result> readers(const plan& plan);
// The threads of `readers` take a permit each of one semaphore; against connections that insert and delete a row.
std::vector<result> semaphore(const plan& plan);
// 16 threads of one process take a permit each of a semaphore that has 8 (capacity) left, while another client holds
// 4,000 (threads); against a semaphore that has no more than those 8.
std::vector<result> permits(const plan& plan);
// 2, 4, 8 and 16 clients, a thread each, take a permit of one semaphore that never runs out; against as many
// connections that update one and the same row twice. `of_the_fewest_clients` must not be far below 1.
std::vector<result> clients(const plan& plan);
// Pairs of acquire and release of a quorum_mutex on three sets of tables (on SQLite: files), which the scenario makes
// and drops; against three connections that each commit an update at the same time, and then another.
std::vector<result> quorum(const plan& plan);
// Processes pass one lock on: the time from the start of a release until the next holder's acquire returns, against one
// durable commit.
std::vector<result> handover(const plan& plan);
// As `handover`, between threads of one process.
std::vector<result> handover_local(const plan& plan);
// The load that 1,000 waiting acquires put on the server, against one; and how long a hand-over to one of them takes,
// and to one of three times as many.
std::vector<result> waiters(const plan& plan);
// Rows that a renewal writes with 10,000 locks held, against one held.
std::vector<result> held(const plan& plan);
// How long a client takes to read its holds among 1,000,000 names, page by page, without the pauses in
// between; against as many statements that read one row.
std::vector<result> reconcile(const plan& plan);
// How long it takes to notify 50,000 holders that their lease is lost, against one holder.
std::vector<result> lost(const plan& plan);
// How long a release takes while 200 threads of its client read, and how long until the next client has the lock if
// 1,000 waiters of the holder's client give up with the release; against the same without them.
std::vector<result> beside(const plan& plan);
// Pairs of acquire and release over HTTP, by 1, 64 and 256 clients of a `rowlock serve` that the scenario starts; against
// the library with as many threads. It needs the command beside this program.
std::vector<result> http(const plan& plan);
// 10,000 requests wait at that server, a hundred for each lock: the time from a release until the next one is answered,
// and the memory and threads of the server; against asynchronous acquires of the library.
std::vector<result> http_waits(const plan& plan);
// GET /metrics of that server beside 10,000 locks, against GET /healthz.
std::vector<result> http_metrics(const plan& plan);
// The processor time of 300 clients (of a server: 20) that have a hold each and do nothing, per client, against one.
std::vector<result> idle(const plan& plan);

struct scenario {
  std::string_view name;
  std::string_view what;
  std::string_view floor;  // what rowlock's side is compared with
  std::vector<result> (*run)(const plan&);
};

const std::vector<scenario>& scenarios();

}  // namespace rowlock::bench
