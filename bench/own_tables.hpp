// A set of rowlock's tables beside the usual one, with a client and a floor of its own, that exists as long as the
// object does. SQLite has one writer per file, so there it is a file beside the given one.
#pragma once

#include "bench/floor.hpp"
#include "bench/scenario.hpp"

#include <memory>
#include <optional>
#include <string>

namespace rowlock::bench {

class own_tables {
 public:
  own_tables(const plan& usual, const std::string& name);
  ~own_tables();
  own_tables(const own_tables&) = delete;
  own_tables& operator=(const own_tables&) = delete;

  const plan& its_plan() const { return plan_; }
  const rowlock::client& client() const { return *client_; }
  floor_database& floor() { return *floor_; }

 private:
  plan plan_;
  std::unique_ptr<floor_database> floor_;
  std::optional<rowlock::client> client_;
};

}  // namespace rowlock::bench
