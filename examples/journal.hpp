// A table in the same database as the locks, written only by whoever holds one.
#pragma once

#include <rowlock/hold.hpp>

#include <memory>
#include <string>
#include <vector>

class journal {
 public:
  // For a URL as rowlock takes it.
  static std::unique_ptr<journal> open(const std::string& url);

  virtual ~journal() = default;
  virtual void create() = 0;
  virtual void drop() = 0;  // also the migrations' ledger, which outlives the migrations

  // One transaction: proves the hold, writes the line. False, and nothing was written: the lock is somebody
  // else's.
  virtual bool write(const rowlock::hold& hold, const std::string& worker, const std::string& line) = 0;

  virtual std::vector<std::string> lines() = 0;  // "token worker line", in the order of writing
};
