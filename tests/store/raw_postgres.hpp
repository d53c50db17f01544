// libpq itself, as an application's own code uses it, one step at a time.
#pragma once

#include <libpq-fe.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace rowlock::test {

class raw_postgres {
 public:
  using rows = std::vector<std::vector<std::string>>;

  explicit raw_postgres(const std::string& url);
  ~raw_postgres();
  raw_postgres(const raw_postgres&) = delete;
  raw_postgres& operator=(const raw_postgres&) = delete;

  // One statement with parameters, or any number without. Throws std::runtime_error with the SQLSTATE.
  rows run(const std::string& sql, std::initializer_list<std::string> parameters = {});
  // The only field.
  std::string value(const std::string& sql, std::initializer_list<std::string> parameters = {});
  // The SQLSTATE with which it is refused; empty when it is not.
  std::string refusal(const std::string& sql);

  // Sends, and comes back when the server has the statement waiting for somebody's lock.
  void run_until_blocked(const std::string& sql, raw_postgres& observer);
  // Its answer.
  rows finish();

  int pid() const { return PQbackendPID(handle_); }
  bool alive() const { return PQstatus(handle_) == CONNECTION_OK; }

 private:
  rows take(PGresult* result);

  PGconn* handle_;
};

// Comes back when the backend waits for a lock; throws after ten seconds.
void until_blocked(raw_postgres& observer, int pid);

}  // namespace rowlock::test
