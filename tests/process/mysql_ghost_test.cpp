#ifdef ROWLOCK_TEST_MYSQL

// Which connection is ended as a ghost, and which is reported as gone. Through a Unix socket no port distinguishes two
// connections, and another run of the server reuses the numbers of connections.
#include "own_server.hpp"
#include "store/backends.hpp"
#include "support/mysql_connection.hpp"
#include "support/stores.hpp"

#include <rowlock/rowlock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;

class mysql_ghost_test : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    server_ = &servers_.get(GetParam());
    migrator{server_->url()}.up();
  }
  static void TearDownTestSuite() { servers_.clear(); }

  static std::unique_ptr<store::session> connect(const std::string& url) {
    return store::open_mysql(url, {})->connect();
  }
  std::unique_ptr<store::session> connect() const { return connect(server_->local_url()); }
  static std::string with(std::string text, const std::string& part, const std::string& other) {
    return text.replace(text.find(part), part.size(), other);
  }
  static long number_of(const std::string& backend) { return std::stol(backend); }
  static long start_of(const std::string& backend) { return std::stol(backend.substr(backend.find(' '))); }
  static bool alive(store::session& session) {
    try {
      session.read_database_state();
      return true;
    } catch (const error&) {
      return false;
    }
  }

  static own_servers servers_;
  own_server* server_ = nullptr;
};

own_servers mysql_ghost_test::servers_;

TEST_P(mysql_ghost_test, is_ended_through_a_unix_socket) {
  const auto judge = connect();
  const auto ghost = connect();
  EXPECT_TRUE(judge->end_ghost(ghost->backend()));
  EXPECT_FALSE(alive(*ghost));
  EXPECT_TRUE(judge->end_ghost(ghost->backend())) << "it is gone at the second call";
}

// Within one run of a server, every connection sees the same start at any time.
TEST_P(mysql_ghost_test, knows_when_its_server_was_started) {
  const auto start = start_of(connect()->backend());
  mysql_connection observer{server_->url()};
  const auto uptime = [&] { return std::stol(observer.run("SHOW STATUS LIKE 'Uptime'").at(0).at(1)); };
  for (const auto before = uptime(); uptime() < before + 2;) {
    EXPECT_EQ(start_of(connect()->backend()), start);
    EXPECT_EQ(start_of(connect(server_->url())->backend()), start);
  }
}

TEST_P(mysql_ghost_test, of_a_server_that_was_started_again_is_gone_and_no_stranger_is_ended) {
  std::vector<std::unique_ptr<store::session>> sessions(20);
  for (auto& each : sessions) each = connect();
  const auto ghost = sessions.back()->backend();
  sessions.clear();
  // The next start must happen in a later second.
  mysql_connection observer{server_->url()};
  while (observer.value("SELECT unix_timestamp()") == std::to_string(start_of(ghost))) {
    std::this_thread::sleep_for(10ms);
  }
  server_->crash();
  server_->start();
  const auto judge = connect();
  auto stranger = connect();
  while (number_of(stranger->backend()) < number_of(ghost)) stranger = connect();
  ASSERT_EQ(number_of(stranger->backend()), number_of(ghost));
  EXPECT_TRUE(judge->end_ghost(ghost));
  EXPECT_TRUE(alive(*stranger));
}

// The server starts twice within a second, so only its process tells the two runs apart.
TEST_P(mysql_ghost_test, of_another_process_at_the_socket_is_left_alone) {
  const auto judge = connect();
  const auto stranger = connect();
  const auto backend = stranger->backend();
  const auto slash = backend.find("localhost/") + 9;
  const auto process = backend.substr(slash, backend.find(' ', slash) - slash);
  EXPECT_FALSE(judge->end_ghost(with(backend, process, "/1")));
  EXPECT_TRUE(alive(*stranger));
  EXPECT_FALSE(connect(server_->url())->end_ghost(backend)) << "nothing shows this from outside";
  EXPECT_TRUE(alive(*stranger));
}

TEST_P(mysql_ghost_test, with_another_port_is_gone_and_no_stranger_is_ended) {
  const auto judge = connect(server_->url());
  const auto stranger = connect(server_->url());
  EXPECT_TRUE(judge->end_ghost(with(stranger->backend(), "127.0.0.1:", "127.0.0.1:1")));
  EXPECT_TRUE(alive(*stranger));
}

// The clock was set back between two starts.
TEST_P(mysql_ghost_test, of_a_later_start_is_left_alone) {
  const auto judge = connect();
  const auto ghost = connect();
  const auto start = start_of(ghost->backend());
  EXPECT_FALSE(judge->end_ghost(with(ghost->backend(), std::to_string(start), std::to_string(start + 1))));
  EXPECT_TRUE(alive(*ghost));
}

// After the credentials have changed, the ghost may belong to a user whose connections the present user cannot see.
TEST_P(mysql_ghost_test, that_may_not_be_seen_is_not_said_to_be_gone) {
  mysql_connection{server_->url()}.run(
      "CREATE USER rotated@'%' IDENTIFIED BY 'rowlock'; "
      "GRANT SELECT, INSERT, UPDATE, DELETE ON rowlock_test.* TO rotated@'%'");
  for (const auto& url : {server_->url(), server_->local_url()}) {
    const auto ghost = connect(url);
    const auto judge = connect(with(url, "rowlock:", "rotated:"));
    EXPECT_FALSE(judge->end_ghost(ghost->backend()));
    EXPECT_TRUE(alive(*ghost));
  }
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_ghost_test);

}  // namespace

}  // namespace rowlock::test

#endif
