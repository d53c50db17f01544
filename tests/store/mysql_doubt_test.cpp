#ifdef ROWLOCK_TEST_MYSQL

// What remains unknown after a failure, and what a broken connection leaves behind.
#include "store/embedded.hpp"
#include "store/mysql/mysql_error.hpp"
#include "store/mysql_test.hpp"
#include "store/open.hpp"
#include "support/background.hpp"
#include "support/loopback.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <soci/mysql/soci-mysql.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rowlock::test {
namespace {

class mysql_doubt_test : public mysql_test {};

// The statement may have been killed after its commit.
TEST_P(mysql_doubt_test, a_statement_that_was_killed_may_have_happened) {
  const auto session = ready();
  const auto lease = new_lease(*session);
  const auto other = raw();
  until_uncontended([&] {
    run(*other, "START TRANSACTION; SELECT id FROM @lease FOR UPDATE");
    auto renewed = in_background([&] { return renew(*session, lease); });
    until_blocked(*session, renewed);
    side_->run("KILL QUERY " + connection_of(*session));
    try {
      renewed.get();
      FAIL() << "it was not killed";
    } catch (const error& killed) {
      if (killed.database_code() == "1205") throw;  // it had waited too long
      EXPECT_EQ(killed.database_code(), "1317");
      EXPECT_TRUE(killed.outcome_unknown());
    }
  });
  other->run("ROLLBACK");
  EXPECT_TRUE(renew(*session, lease)) << "the connection is as good as before";
}

TEST_P(mysql_doubt_test, is_told_by_the_error) {
  const store::sql_catalog catalog{embedded::mysql_queries(), "rowlock_"};
  const auto told = [&](int number) {
    return store::mysql_error(soci::mysql_soci_error("it said", number), "release", catalog);
  };
  const auto unknown = [&](int number) { return told(number).outcome_unknown(); };
  for (const int number : {0, 1180, 1317, 1969, 2006, 2008, 2013, 2020, 3024, 3101})
    EXPECT_TRUE(unknown(number)) << number;
  for (const int number : {1062, 1205, 1213, 1290}) EXPECT_FALSE(unknown(number)) << number;
  for (const int number : {0, 2008, 2020}) EXPECT_EQ(told(number).code(), errc::unreachable) << number;
  for (const int number : {1036, 1290, 1792, 1836}) {
    EXPECT_EQ(told(number).code(), errc::read_only) << number;
  }
  for (const int number : {1020, 1205, 1213, 1614, 3101, 3572}) {
    EXPECT_EQ(told(number).code(), errc::contention) << number;
  }
}

// Passes bytes between one client and the server.
class relay {
 public:
  explicit relay(std::uint16_t server) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto own = loopback();
    socklen_t size = sizeof own;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
        ::listen(listener_, 1) != 0) {
      throw std::runtime_error("the relay cannot listen");
    }
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size);
    port_ = ntohs(own.sin_port);
    end_ = in_background([this, server] { return carry(server); });
  }
  ~relay() {
    ::close(client_);
    ::close(listener_);
  }
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  std::uint16_t port() const { return port_; }
  // Waits until the client has closed its side, and returns whether it has reset the connection.
  bool was_reset() {
    if (end_.get()) return true;
    int problem = 0;
    socklen_t size = sizeof problem;
    ::getsockopt(client_, SOL_SOCKET, SO_ERROR, &problem, &size);
    return problem == ECONNRESET || problem == EPIPE;
  }

 private:
  bool carry(std::uint16_t server) {
    client_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int there = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto whom = loopback(server);
    if (::connect(there, reinterpret_cast<sockaddr*>(&whom), sizeof whom) != 0) {
      throw std::runtime_error("the relay cannot connect");
    }
    bool failed = false;
    for (bool open = true; open;) {
      pollfd both[] = {{client_, POLLIN, 0}, {there, POLLIN, 0}};
      ::poll(both, 2, -1);
      char bytes[4096];
      for (const auto& ready : both) {
        if (ready.revents == 0) continue;
        const auto got = ::recv(ready.fd, bytes, sizeof bytes, 0);
        if (ready.fd == client_ && got <= 0) open = false;
        failed = failed || (ready.fd == client_ && got < 0);
        if (got > 0) {
          [[maybe_unused]] const auto put = ::send(ready.fd == client_ ? there : client_, bytes,
                                                   static_cast<std::size_t>(got), MSG_NOSIGNAL);
        } else if (ready.fd == there) {
          open = false;
        }
      }
    }
    ::close(there);
    return failed;
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  int client_ = -1;
  std::future<bool> end_;
};

// Without the reset, the kernel would send the rest of a statement later, and its grant would belong to nobody.
TEST_P(mysql_doubt_test, a_broken_connection_is_reset_and_a_sound_one_closed) {
  auto url = fixture_->url();
  const auto colon = url.rfind(':');
  const auto slash = url.find('/', colon);
  const auto server = static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1, slash - colon - 1)));
  const auto resets = [&](bool broken) {
    relay between{server};
    auto there = url;
    there.replace(colon + 1, slash - colon - 1, std::to_string(between.port()));
    auto session = store::open(there, fixture_->options())->connect();
    if (broken) session->interrupt();
    session.reset();
    return between.was_reset();
  };
  EXPECT_FALSE(resets(false));
  EXPECT_TRUE(resets(true));
}

ROWLOCK_FOR_EACH_MYSQL_SERVER(mysql_doubt_test);

}  // namespace
}  // namespace rowlock::test

#endif
