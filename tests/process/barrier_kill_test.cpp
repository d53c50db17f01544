#include "kill_test.hpp"

#include <algorithm>
#include <map>

namespace rowlock::test {

namespace {

constexpr std::size_t parties = 4;

struct generations_report {
  std::int64_t too_early = 0;   // members that had not arrived when their generation went on
  std::int64_t incomplete = 0;  // generations with fewer members than parties, even if killed members count
  std::int64_t backwards = 0;   // generations with a lower number than an earlier one
};

class generations {
 public:
  explicit generations(const std::vector<witness_line>& lines) {
    for (const auto& line : lines) {
      if (line.what == "went on") members_[line.token].insert(line.pid);
      if (line.what != "died") last_word_[line.pid] = {line.id, line.what};
    }
    for (const auto& line : lines) read(line);
  }

  const generations_report& report() const { return report_; }

 private:
  void read(const witness_line& line) {
    if (line.what == "arrives") there_.insert(line.pid);
    // On a busy machine the lease of a living process may end too. The process then arrives on another lease.
    if (line.what == "died" && last_word_[line.pid].first < line.id) there_.erase(line.pid);
    if (line.what == "went on") go_on(line);
    if (line.what == "heard of the break") there_.erase(line.pid);
  }

  void go_on(const witness_line& line) {
    if (line.token < latest_) ++report_.backwards;
    if (line.token <= latest_) return;
    latest_ = line.token;
    // The first line of a generation that has left is judged. By then all members must have arrived, and they leave
    // together.
    const auto& members = members_[line.token];
    for (const auto pid : members) report_.too_early += there_.erase(pid) == 0 ? 1 : 0;
    for (auto count = members.size(); count < parties; ++count) {
      const auto dead = std::find_if(there_.begin(), there_.end(),
                                     [&](std::int64_t pid) { return last_word_[pid].second == "arrives"; });
      if (dead == there_.end()) {
        ++report_.incomplete;
        break;
      }
      there_.erase(dead);
    }
  }

  std::map<std::int64_t, std::set<std::int64_t>> members_;  // by the generation's number
  std::map<std::int64_t, std::pair<std::int64_t, std::string>>
      last_word_;  // by pid; "arrives" if the process was killed there
  std::set<std::int64_t> there_;
  std::int64_t latest_ = 0;
  generations_report report_;
};

class barrier_kill_test : public kill_test {};

TEST_P(barrier_kill_test, breaks_whole_generations_and_the_next_one_meets) {
  witness().create();
  crew all{mortal(), "load barrier 1 0 phase " + std::to_string(parties), parties};
  int breaks = 0;
  for (int turn = 0; breaks < 2 && turn < 6; ++turn) {
    until_some_moment(100ms);
    all.remove_one(random());  // before it arrives, while it waits, or when all go on
    until("nobody goes on without it", [&] { return all.count_of(waiting()) == parties - 1; });
    const auto went_on = said("went on");
    const auto had_heard = said("heard of the break");
    until("a waiter is killed", [&] { return all.remove_one_of([&] { return waiting(); }, random()); });
    const auto heard = [&] { return said("heard of the break") >= had_heard + 2; };
    // On a busy machine the process may have been killed just after it had lost its place with its lease.
    until("the others hear of the break",
          [&] { return heard() || (queued() == parties - 2 && all.count_of(waiting()) == parties - 2); });
    if (heard()) ++breaks;
    EXPECT_EQ(said("went on"), went_on);
    all.refill();
    until("they meet again", [&] { return said("went on") >= went_on + 20; });
  }
  EXPECT_EQ(breaks, 2);
  EXPECT_EQ(all.halt()["broken"], 0);
  const auto found = generations{witness().lines()}.report();
  EXPECT_EQ(found.too_early, 0);
  EXPECT_EQ(found.incomplete, 0);
  EXPECT_EQ(found.backwards, 0);
  until_nothing_is_left();
}

ROWLOCK_FOR_EACH_SQL_STORE(barrier_kill_test);

}  // namespace

}  // namespace rowlock::test
