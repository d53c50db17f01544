// The database as the parts of the service use it: connected when it is first needed, and every call measured.
#pragma once

#include "model/annotated_mutex.hpp"
#include "serve/limited_call.hpp"

#include <rowlock/admin.hpp>
#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <optional>

namespace rowlock::serve {

// Called after each call to the database, on the thread of that call. failed: null if the call has succeeded, or if its
// failure says nothing about the database, as with an impossible name.
using call_observer =
    std::function<void(const char* call, std::chrono::nanoseconds lasted, const error* failed)>;

// Any thread may call it. The calls wait for the database; no thread of the HTTP server may make them.
class database {
 public:
  // connect: as rowlock::connect. schema_version: reads the version of the schema, on a connection of its own.
  database(std::function<client()> connect, limited_call<int> schema_version, call_observer observed);

  // Runs the body and tells the observer. Throws what the body throws. After a failure to connect, calls fail with the
  // same error for a second, so that not every thread tries.
  void call(const char* name, const std::function<void(const client&)>& body);
  // The version that the tables have. Throws error as migrator does.
  int schema_version();

  // The client, if it was ever connected.
  std::optional<client> connected() const;
  // Calls fail from now on, also those that are under way; an attempt to connect ends first.
  void close();

 private:
  client connected_or_connect();
  template <class Body>
  void observe(const char* name, const Body& body);

  const std::function<client()> connect_;
  const limited_call<int> read_schema_version_;
  const call_observer observed_;
  mutable model::annotated_mutex mutex_;
  std::condition_variable changed_;
  std::optional<client> client_ ROWLOCK_GUARDED_BY(mutex_);
  bool is_connecting_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool is_closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::optional<error> failed_ ROWLOCK_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point failed_at_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::serve
