// libpq itself, one step at a time, as an application's own code uses it.
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

  // Runs one statement with parameters, or any number of statements without. Throws std::runtime_error with the
  // SQLSTATE.
  rows run(const std::string& sql, std::initializer_list<std::string> parameters = {});
  // The only field of the result.
  std::string value(const std::string& sql, std::initializer_list<std::string> parameters = {});
  // The SQLSTATE with which the server refuses the statement; empty if it does not.
  std::string refusal(const std::string& sql);

  // Sends the statement, and returns when the server shows that it waits for somebody's lock.
  void run_until_blocked(const std::string& sql, raw_postgres& observer);
  // Waits for the answer to that statement, and returns it.
  rows finish();

  int pid() const { return PQbackendPID(handle_); }
  bool alive() const { return PQstatus(handle_) == CONNECTION_OK; }

 private:
  rows take(PGresult* result);

  PGconn* handle_;
};

// Returns when the backend waits for a lock; throws after ten seconds.
void until_blocked(raw_postgres& observer, int pid);

}  // namespace rowlock::test
