// A log of who held what, written by the holders themselves in transactions that no lock protects; and of
// what triggers saw: who queued, who was permitted, whose lease ended.
//
// Ids are given out in the order of time. A holder comes after its grant and leaves before its release, so
// what lies between the two lines lies within the hold: two that overlap here were held together.
#pragma once

#include "sql_session.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::test {

struct witness_line {
  std::int64_t id = 0;
  std::string what;  // came, weighs, left; queued, permitted, died by the triggers; or what note() was given
  std::string name;
  std::string hold_id;
  std::string lease;  // of those who queued or died
  std::int64_t pid = 0;
  std::int64_t token = 0;
  std::int64_t weight = 0;
  std::int64_t asked_after = 0;  // the last line that stood there when the holder began to ask
};

// Of one hold.
struct visit {
  std::string name;
  std::string hold_id;
  std::int64_t token = 0;
  std::int64_t weight = 1;
};

class witness {
 public:
  witness(sql_session& session, std::string prefix) : session_{session}, prefix_{std::move(prefix)} {}

  // The table, and the triggers on rowlock's own.
  void create();

  std::int64_t latest();

  // All of the visits in one transaction. False: they were not valid any more when their lines had got their
  // ids, and nothing is said. A hold that is valid then ends later than those lines.
  bool come(const std::vector<visit>& visits, std::int64_t asked_after,
            const std::function<bool()>& is_valid);
  bool leave(const std::vector<visit>& visits, const std::function<bool()>& is_valid);
  // They are inside with another weight, and perhaps another token, than they came with.
  bool weigh(const std::vector<visit>& visits, const std::function<bool()>& is_valid);

  // This process did something.
  void note(const std::string& what, const std::string& name, std::int64_t token = 0);

  std::vector<witness_line> lines();

 private:
  bool say(const std::string& what, const std::vector<visit>& visits, std::int64_t asked_after,
           const std::function<bool()>& is_valid);
  void write(const std::string& what, const visit& one, std::int64_t asked_after);

  sql_session& session_;
  std::string prefix_;
};

}  // namespace rowlock::test
