// Receives notifications on its own connection, for a session behind a pooler, which cannot receive them.
#pragma once

#include "store/connect_watch.hpp"
#include "store/postgres/postgres_setup.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::store {

// Only the session's thread calls its functions, except interrupt(). No failure here fails the session: if a
// notification is missed, the client's regular poll finds the change.
class postgres_listener {
 public:
  // place: the server and database of the session, see place_of().
  postgres_listener(const postgres_context& context, std::string place);

  void listen(const std::string& channel);
  // Takes the notifications that have arrived. Connects if there is no connection, but not soon after a
  // failed attempt. Returns true if a notification may have been missed.
  bool drain();
  std::vector<std::string> take_heard() noexcept;
  // -1: no connection.
  int socket() const noexcept { return connection_ ? connection_->socket() : -1; }
  // When drain() next has something to do even if nothing arrives.
  std::chrono::steady_clock::time_point retry_at() const noexcept;
  // Why no notifications are received now; empty: they are received.
  const std::string& complaint() const noexcept { return complaint_; }

  // Any thread may call this. A running attempt to connect fails, and so do all that follow.
  void interrupt() noexcept { watch_.interrupt(); }

 private:
  void listen_to(const std::vector<std::string>& channels);
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
