// Hears notifications on a connection of its own, for a session behind a pooler, which cannot.
#pragma once

#include "store/connect_watch.hpp"
#include "store/postgres/postgres_setup.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::store {

// Used by its session's thread, but for interrupt(). Nothing here fails the session: what is not heard is
// found by the poll that stands behind every wake-up.
class postgres_listener {
 public:
  // place: of the session.
  postgres_listener(const postgres_context& context, std::string place);

  void listen(const std::string& channel);
  // Takes what has arrived; connects where there is no connection and none was tried for some time. True:
  // something may have been missed.
  bool drain();
  std::vector<std::string> take_heard() noexcept;
  // -1: there is no connection.
  int socket() const noexcept { return connection_ ? connection_->socket() : -1; }
  // When drain() has something to do though nothing arrives.
  std::chrono::steady_clock::time_point retry_at() const noexcept;
  // Why nothing is heard now; empty: it is.
  const std::string& complaint() const noexcept { return complaint_; }

  // Any thread. An attempt to connect that is under way fails, and so do all that follow.
  void interrupt() noexcept { watch_.interrupt(); }

 private:
  void hear(const std::vector<std::string>& channels);
  void fail(const error& why);

  const postgres_context& context_;
  const std::string place_;
  connect_watch watch_;
  std::unique_ptr<postgres_connection> connection_;
  std::vector<std::string> channels_;
  std::chrono::steady_clock::time_point retry_at_{};
  std::string complaint_;
};

}  // namespace rowlock::store
