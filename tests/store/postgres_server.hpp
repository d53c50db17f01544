// A server that belongs to one test, for what would disturb others: crash, promote, stop.
#pragma once

#include <string>

namespace rowlock::test {

class postgres_server {
 public:
  postgres_server();                                         // new and empty
  explicit postgres_server(const postgres_server& primary);  // a standby of the primary
  ~postgres_server();
  postgres_server& operator=(const postgres_server&) = delete;

  std::string url() const;
  void crash();  // pg_ctl stop -m immediate: nothing is flushed, recovery follows
  void start();
  void promote();
  int postmaster() const;
  std::string log() const;  // the text of the server's log

 private:
  void run(const std::string& command) const;
  std::string data() const { return folder_ + "/data"; }

  std::string folder_;
};

}  // namespace rowlock::test
