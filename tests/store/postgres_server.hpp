// A server of a test's own, for what cannot be done to one that others use: crash, promote, stop.
#pragma once

#include <string>

namespace rowlock::test {

class postgres_server {
 public:
  postgres_server();                                         // new and empty
  explicit postgres_server(const postgres_server& primary);  // a standby of that one
  ~postgres_server();
  postgres_server& operator=(const postgres_server&) = delete;

  std::string url() const;
  void crash();  // pg_ctl stop -m immediate: nothing is flushed, recovery follows
  void start();
  void promote();
  int postmaster() const;
  std::string log() const;  // what it has said

 private:
  void run(const std::string& command) const;
  std::string data() const { return folder_ + "/data"; }

  std::string folder_;
};

}  // namespace rowlock::test
