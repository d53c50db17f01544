// Makes a client's connections, to the database that the user's source names at that moment.
#pragma once

#include "client/base/client_environment.hpp"
#include "client/connection/dialer.hpp"
#include "model/annotated_mutex.hpp"
#include "store/store.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>

namespace rowlock::client_layer {

// Gives the database to connect to, for each connection. Called by one thread at a time.
using database_source = std::function<std::shared_ptr<store::database>()>;

// Thread-safe.
class connection_source {
 public:
  connection_source(client_environment& environment, database_source source)
      : environment_(environment), source_(std::move(source)), dialer_(environment) {}

  // Calls the user's source. Throws error(unreachable) when it fails.
  std::shared_ptr<store::database> database();

  // For whom a connection was made in advance.
  enum class spare : std::uint8_t { keeper, worker };
  // Makes both spare connections, or throws: a client that can renew but not release would keep others
  // waiting. Returns the keeper's, which stays here.
  store::session& make_spares(const std::shared_ptr<store::database>& database);
  // Returns that spare connection the first time, otherwise a new one. Throws what the store throws.
  std::unique_ptr<store::session> connect(std::optional<spare> whose);

  // Interrupts attempts that are under way and drops the spares.
  void close();

 private:
  client_environment& environment_;
  model::annotated_mutex source_mutex_;
  const database_source source_ ROWLOCK_GUARDED_BY(source_mutex_);
  model::annotated_mutex spare_mutex_;
  std::array<std::unique_ptr<store::session>, 2> spares_ ROWLOCK_GUARDED_BY(spare_mutex_);
  dialer dialer_;
};

}  // namespace rowlock::client_layer
