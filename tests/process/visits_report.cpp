#include "visits_report.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace rowlock::test {

namespace {

// A name and a hold's id.
using key = std::pair<std::string, std::string>;

key key_of(const witness_line& line) {
  return {line.name, line.hold_id};
}

struct visited_lock {
  std::map<std::string, witness_line> inside;  // by hold
  std::int64_t weight = 0;
  std::int64_t token = 0;                       // the highest token of all visits
  std::int64_t token_of_lone = 0;               // the highest token of the visits that were alone
  std::map<std::int64_t, std::int64_t> queued;  // by the line of its place: the highest token so far
};

class reader {
 public:
  reader(const std::vector<witness_line>& lines, std::int64_t capacity, without_leaving rule)
      : capacity_{capacity}, rule_{rule} {
    for (const auto& line : lines) {
      if (line.what == "came") tokens_[key_of(line)] = line.token;
      if (line.what == "left") left_.insert(key_of(line));
      // A waiter that lost its place with its lease has queued again: the last place counts.
      if (line.what == "queued") places_[key_of(line)] = line.id;
    }
    for (const auto& line : lines) read(line);
    for (const auto& [name, one] : visited_) {
      for (const auto& [hold, line] : one.inside) report_.inside.insert(line.pid);
    }
  }

  const visits_report& report() const { return report_; }

 private:
  void read(const witness_line& line) {
    if (line.what == "queued") queue(line);
    if (line.what == "came") come(line);
    if (line.what == "weighs") weigh(line);
    if (line.what == "left") leave(visited_[line.name], line.hold_id);
    if (line.what == "died") die(line);
  }

  void queue(const witness_line& line) {
    if (places_[key_of(line)] != line.id) return;
    const auto token = tokens_.find(key_of(line));
    if (token == tokens_.end()) {
      waiting_.insert(line.lease);
      return;
    }
    auto& queued = visited_[line.name].queued;
    const auto before = queued.empty() ? 0 : queued.rbegin()->second;
    queued[line.id] = std::max(before, token->second);
    ++report_.queued;
  }

  void come(const witness_line& line) {
    auto& one = visited_[line.name];
    ++report_.visits;
    if (report_.killed_inside > 0) ++report_.after_kills;
    const auto later = one.queued.upper_bound(line.asked_after);
    if (later != one.queued.begin() && std::prev(later)->second > line.token) ++report_.overtaken;
    judge(one, line, line.weight);
    if (rule_ == without_leaving::not_counted && !left_.contains(key_of(line))) return;
    one.inside[line.hold_id] = line;
    one.weight += line.weight;
    report_.most_together = std::max(report_.most_together, one.weight);
    report_.most_sharing = std::max(report_.most_sharing, static_cast<std::int64_t>(one.inside.size()));
  }

  void weigh(const witness_line& line) {
    auto& one = visited_[line.name];
    const auto found = one.inside.find(line.hold_id);
    if (found == one.inside.end()) return;
    const auto more = line.weight - found->second.weight;
    more < 0 ? ++report_.lighter : ++report_.heavier;
    if (more > 0) judge(one, line, more);
    one.weight += more;
    found->second.weight = line.weight;
  }

  // Judges a visit that was granted the weight `more`, beside the visits that are inside.
  void judge(visited_lock& one, const witness_line& line, std::int64_t more) {
    const bool is_alone = line.weight >= capacity_;
    if (line.token <= (is_alone ? one.token : one.token_of_lone)) ++report_.token_faults;
    one.token = std::max(one.token, line.token);
    if (is_alone) one.token_of_lone = std::max(one.token_of_lone, line.token);
    if (one.weight + more > capacity_) ++report_.overfull;
  }

  static void leave(visited_lock& one, const std::string& hold) {
    const auto found = one.inside.find(hold);
    if (found == one.inside.end()) return;
    one.weight -= found->second.weight;
    one.inside.erase(found);
  }

  void die(const witness_line& line) {
    std::int64_t left = 0;
    for (auto& [name, one] : visited_) {
      std::vector<std::string> holds;
      for (const auto& [hold, came] : one.inside) {
        if (came.pid == line.pid) holds.push_back(hold);
      }
      for (const auto& hold : holds) leave(one, hold);
      left += static_cast<std::int64_t>(holds.size());
    }
    if (left > 0) ++report_.killed_inside;
    if (waiting_.contains(line.lease)) ++report_.killed_waiting;
  }

  const std::int64_t capacity_;
  const without_leaving rule_;
  std::map<key, std::int64_t> tokens_;
  std::map<key, std::int64_t> places_;
  std::set<key> left_;
  std::set<std::string> waiting_;  // leases with a place for a hold that never came
  std::map<std::string, visited_lock> visited_;
  visits_report report_;
};

}  // namespace

visits_report report_on(const std::vector<witness_line>& lines, std::int64_t capacity, without_leaving rule) {
  return reader{lines, capacity, rule}.report();
}

}  // namespace rowlock::test
