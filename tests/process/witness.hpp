// A log of holds that the holders themselves write, in transactions that no lock protects, and of what triggers see:
// which requests queued, which permits were granted, which leases ended.
//
// Ids rise in the order of time. A holder writes that it came after its grant, and that it left before its release. So
// everything between the two lines lies within the hold, and two visits that overlap here were held together.
#pragma once

#include "sql_session.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rowlock::test {

struct witness_line {
  std::int64_t id = 0;
  std::string what;  // came, weighs, left; queued, permitted, died (by triggers); or a word of note()
  std::string name;
  std::string hold_id;
  std::string lease;  // for the lines queued and died
  std::int64_t pid = 0;
  std::int64_t token = 0;
  std::int64_t weight = 0;
  std::int64_t asked_after = 0;  // the latest line when the holder began to ask
};

// One hold's visit.
struct visit {
  std::string name;
  std::string hold_id;
  std::int64_t token = 0;
  std::int64_t weight = 1;
};

class witness {
 public:
  witness(sql_session& session, std::string prefix) : session_{session}, prefix_{std::move(prefix)} {}

  // Creates the table, and the triggers on rowlock's tables.
  void create();

  std::int64_t latest();

  // Writes all visits in one transaction. False: the visits were no longer valid when their lines had ids, and nothing
  // is written. A hold that is valid at that moment ends later than those lines.
  bool come(const std::vector<visit>& visits, std::int64_t asked_after,
            const std::function<bool()>& is_valid);
  bool leave(const std::vector<visit>& visits, const std::function<bool()>& is_valid);
  // Writes that visits inside have another weight, and perhaps another token, than when they came.
  bool weigh(const std::vector<visit>& visits, const std::function<bool()>& is_valid);

  // Records that this process did something.
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
