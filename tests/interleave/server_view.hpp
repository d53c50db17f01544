// What the server itself says of the connections under test: which one waits for a lock, and which one has stopped
// inside a block of statements.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rowlock::test {

class server_view {
 public:
  enum class sight { moving, blocked, stopped };

  server_view() = default;
  server_view(const server_view&) = delete;
  server_view& operator=(const server_view&) = delete;
  virtual ~server_view() = default;

  // Returns what is seen of each backend, in their order.
  virtual std::vector<sight> look(std::span<const std::string> backends) = 0;
  // From now on the backend stops before each statement of a block (MariaDB).
  virtual void stop_in_blocks(const std::string& /*backend*/) {}
  // Lets a stopped backend execute its next statement.
  virtual void let_go(const std::string& /*backend*/) {}
};

// url: that of a user who may see the server's locks.
std::unique_ptr<server_view> open_postgres_view(const std::string& url);
std::unique_ptr<server_view> open_mysql_view(const std::string& url);
// SQLite waits in this process, so no server needs to be asked.
std::unique_ptr<server_view> open_sqlite_view();

}  // namespace rowlock::test
