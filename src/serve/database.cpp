#include "serve/database.hpp"

#include "serve/as_error.hpp"

#include <exception>
#include <utility>

namespace rowlock::serve {

namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::seconds between_attempts{1};

// Whether the failure says nothing about the database, because the caller has asked for something impossible, or has
// gone.
bool is_the_callers(const error& problem) {
  return problem.kind() == errc::invalid_argument || problem.kind() == errc::mismatch ||
         problem.kind() == errc::cancelled;
}

}  // namespace

database::database(std::function<client()> connect, limited_call<int> schema_version, call_observer observed)
    : connect_{std::move(connect)},
      read_schema_version_{std::move(schema_version)},
      observed_{std::move(observed)} {}

template <class Body>
void database::observe(const char* name, const Body& body) {
  const auto began = clock::now();
  try {
    body();
  } catch (const error& problem) {
    observed_(name, clock::now() - began, is_the_callers(problem) ? nullptr : &problem);
    throw;
  }
  observed_(name, clock::now() - began, nullptr);
}

void database::call(const char* name, const std::function<void(const client&)>& body) {
  observe(name, [&] { body(connected_or_connect()); });
}

int database::schema_version() {
  int version = 0;
  observe("schema", [&] { version = read_schema_version_(); });
  return version;
}

std::optional<client> database::connected() const {
  const model::annotated_lock lock{mutex_};
  return client_;
}

// One thread connects; the others wait for its result.
client database::connected_or_connect() {
  model::annotated_lock lock{mutex_};
  changed_.wait(lock, [this]() ROWLOCK_REQUIRES(mutex_) { return !is_connecting_; });
  if (is_closed_) throw error(errc::closed, "the service is ending");
  if (client_) return *client_;
  if (failed_ && clock::now() - failed_at_ < between_attempts) throw *failed_;
  is_connecting_ = true;
  lock.unlock();
  std::optional<client> made;
  std::optional<error> problem;
  try {
    made = connect_();
  } catch (const std::exception& thrown) {
    problem = as_error(thrown);
  }
  lock.lock();
  is_connecting_ = false;
  changed_.notify_all();
  failed_ = problem;
  failed_at_ = clock::now();
  client_ = made;
  if (failed_) throw *failed_;
  if (is_closed_) throw error(errc::closed, "the service is ending");
  return *client_;
}

void database::close() {
  std::optional<client> last;
  {
    const model::annotated_lock lock{mutex_};
    is_closed_ = true;
    last = client_;
  }
  read_schema_version_.end();
  if (last) last->close();
}

}  // namespace rowlock::serve
