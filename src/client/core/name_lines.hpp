// Requests that wait to be sent, in a line for each name. The first request of a name that no batch has
// reserved is found at once, however many wait behind it, or behind reserved names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace rowlock::client_layer {

// Not thread-safe. If memory runs out in add() or put_back(), nothing changes. The others allocate nothing.
template <class Operation>
class name_lines {
  struct line;
  using line_map = std::unordered_map<std::string, line>;

 public:
  // A line, which stays until its last request was taken out.
  using place = typename line_map::value_type*;

  bool empty() const noexcept { return lines_.empty(); }

  // Adds the request at the end of its name's line or, if it is `urgent`, behind the urgent ones at the
  // front. A line has the turn that its first request had when the line was made, or when a request was last
  // taken out or put back.
  void add(const std::string& name, Operation operation, bool is_reserved, bool urgent) {
    std::list<entry> added;
    added.push_back({next_turn_, std::move(operation)});
    line& of_name = line_of(name, next_turn_, is_reserved).second;
    ++next_turn_;
    const auto single = added.begin();
    const bool is_first_of_rest = !urgent && of_name.rest == of_name.waiting.end();
    of_name.waiting.splice(urgent ? of_name.rest : of_name.waiting.end(), added);
    if (is_first_of_rest) of_name.rest = single;
  }
  // Puts the request before all others of its name, and that name before all other names.
  void put_back(const std::string& name, Operation operation, bool is_reserved) {
    std::list<entry> added;
    added.push_back({first_turn_ - 1, std::move(operation)});
    auto& here = line_of(name, first_turn_ - 1, is_reserved);
    --first_turn_;
    here.second.waiting.splice(here.second.waiting.begin(), added);
    set_turn(&here);
  }

  // Call them when the name is reserved, perhaps once more, and when it is free again.
  void reserve(const std::string& name) {
    if (const auto found = lines_.find(name); found != lines_.end()) reserve(&*found);
  }
  void free(const std::string& name) {
    if (const auto found = lines_.find(name); found != lines_.end()) make_ready(found->second);
  }

  // Of the lines whose names are not reserved, the one whose turn comes next after that line, or the first.
  // Null: there is none.
  place next(place after = nullptr) const {
    const auto at = after ? ready_.upper_bound({after->second.turn, after}) : ready_.begin();
    return at == ready_.end() ? nullptr : at->second;
  }
  // The line of that name. Null: nothing waits in it.
  place find(const std::string& name) {
    const auto found = lines_.find(name);
    return found == lines_.end() ? nullptr : &*found;
  }
  void reserve(place at) {
    if (at->second.idle.empty()) at->second.idle = ready_.extract({at->second.turn, at});
  }
  static const Operation& front(place at) { return at->second.waiting.front().operation; }
  // Removes and returns the first request. If it was the only one, the place is gone.
  Operation take(place at) {
    line& of_name = at->second;
    Operation taken = std::move(of_name.waiting.front().operation);
    if (of_name.rest == of_name.waiting.begin()) ++of_name.rest;
    of_name.waiting.pop_front();
    tidy(at);
    return taken;
  }

  // Calls see(operation), which must not throw, for each request. Removes the requests for which see()
  // returns true, and then passes them to take(operation), in the order of their turns.
  template <class See, class Take>
  void remove_if(See see, Take take) {
    std::list<entry> removed;
    for (auto at = lines_.begin(); at != lines_.end();) {
      line& of_name = at->second;
      for (auto one = of_name.waiting.begin(); one != of_name.waiting.end();) {
        const auto seen = one++;
        if (!see(std::as_const(seen->operation))) continue;
        if (seen == of_name.rest) ++of_name.rest;
        removed.splice(removed.end(), of_name.waiting, seen);
      }
      tidy(&*at++);
    }
    removed.sort([](const entry& a, const entry& b) { return a.turn < b.turn; });
    for (auto& one : removed) take(std::move(one.operation));
  }

 private:
  using turn_number = std::int64_t;
  using ready_set = std::set<std::pair<turn_number, place>>;

  struct entry {
    turn_number turn;
    Operation operation;
  };
  struct line {
    std::list<entry> waiting{};
    typename std::list<entry>::iterator rest = waiting.end();  // the first that is not urgent
    turn_number turn = 0;                                      // by which the line stands in ready_
    typename ready_set::node_type idle{};                      // the line's node, while it is not in ready_
  };

  // Finds the line of that name, or makes an empty one.
  typename line_map::value_type& line_of(const std::string& name, turn_number turn, bool is_reserved) {
    if (const auto found = lines_.find(name); found != lines_.end()) return *found;
    ready_set made;
    made.emplace(turn, nullptr);
    const auto at = lines_.try_emplace(name).first;
    at->second.turn = turn;
    at->second.idle = made.extract(made.begin());
    at->second.idle.value().second = &*at;
    if (!is_reserved) make_ready(at->second);
    return *at;
  }
  void make_ready(line& of_name) {
    if (!of_name.idle.empty()) ready_.insert(std::move(of_name.idle));
  }
  // Gives the line the turn of its first request.
  void set_turn(place at) {
    line& of_name = at->second;
    const auto turn = of_name.waiting.front().turn;
    const bool is_ready = of_name.idle.empty();
    if (is_ready) reserve(at);
    of_name.turn = of_name.idle.value().first = turn;
    if (is_ready) make_ready(of_name);
  }
  // Call it after requests were taken out of the line.
  void tidy(place at) {
    if (!at->second.waiting.empty()) return set_turn(at);
    if (at->second.idle.empty()) reserve(at);
    lines_.erase(lines_.find(at->first));
  }

  line_map lines_;
  ready_set ready_;
  turn_number next_turn_ = 0;
  turn_number first_turn_ = 0;
};

}  // namespace rowlock::client_layer
