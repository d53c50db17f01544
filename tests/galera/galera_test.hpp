// Clients at different nodes of a cluster, and a fresh database that they share.
#pragma once

#include "cluster.hpp"
#include "ledger.hpp"
#include "store/backends.hpp"
#include "worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace rowlock::test {

using namespace std::chrono_literals;

// Waits until is_so. The failure names what it waited for.
void until(const std::string& what, const std::function<bool()>& is_so,
           std::chrono::milliseconds limit = 30s);

// How long a hand-over may take on a machine that is busy with three nodes, and which may pause for seconds.
inline constexpr auto slack = 6s;

class galera_test : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  cluster& nodes() { return nodes_; }
  std::string url(int node) const { return nodes_.url(node, database_); }

  worker_settings settings(int node) const;
  worker start(int node) const { return worker{settings(node)}; }

  // A session at the node, as a client has it.
  std::unique_ptr<store::session> session_at(int node) const {
    return store::open_mysql(url(node), {})->connect();
  }
  std::unique_ptr<sql_session> sql(int node) const { return sql_session::open(url(node)); }
  std::int64_t number(const std::string& sql, int node = 1) const { return this->sql(node)->number(sql); }
  // What the ledger says when the session's node has applied everything that was committed at the others.
  static audit check(sql_session& session);
  // Waits until this node shows so many waiters; other nodes may be a moment behind.
  void until_queued(std::int64_t count, int node = 1) const;

 private:
  cluster nodes_;
  // A random name, so that it is never that of another test's database.
  std::string database_;
};

}  // namespace rowlock::test
