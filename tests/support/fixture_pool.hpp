// The databases that tests have left as they were made, for the next tests: to make one takes longer than most tests.
#pragma once

#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace rowlock::test {

// Used by one thread. Tables has
//   note_structure()   called once, when nothing has been changed yet
//   restore()          makes the rows what they were then. False: the structure was changed, or a session still uses the
//                      tables
//   is_reachable()     whether its own connection still exists
template <class Tables>
class fixture_pool {
 public:
  // Returns tables that are as make() makes them. The pool must outlive them.
  template <class Make>
  std::shared_ptr<Tables> borrow(Make make) {
    std::unique_ptr<Tables> taken;
    while (!taken && !left_.empty()) {
      taken = std::move(left_.back());
      left_.pop_back();
      if (!taken->is_reachable()) taken.reset();
    }
    if (!taken) {
      taken = make();
      taken->note_structure();
    }
    return {taken.release(), [this](Tables* used) { give_back(std::unique_ptr<Tables>{used}); }};
  }

 private:
  void give_back(std::unique_ptr<Tables> used) noexcept {
    try {
      if (used->restore()) left_.push_back(std::move(used));
    } catch (const std::exception&) {
      // What cannot be restored is dropped.
    }
  }

  std::vector<std::unique_ptr<Tables>> left_;
};

}  // namespace rowlock::test
