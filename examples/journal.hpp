// A table in the same database as the locks, written only by a process that holds one of them.
#pragma once

#include <rowlock/hold.hpp>

#include <memory>
#include <string>
#include <vector>

class journal {
 public:
  // Takes the same URL as rowlock::connect.
  static std::unique_ptr<journal> open(const std::string& url);

  virtual ~journal() = default;
  virtual void create() = 0;
  virtual void drop() = 0;  // also drops the migrations' ledger, which the migrations leave behind

  // Checks that the hold is held and writes the line, in one transaction. False: it is lost, and nothing was written.
  virtual bool write(const rowlock::hold& hold, const std::string& worker, const std::string& line) = 0;

  virtual std::vector<std::string> lines() = 0;  // "token worker line", in the order of writing
};
