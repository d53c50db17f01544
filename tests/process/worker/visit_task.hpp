// Acquires, tells the witness that it has come, stays for a moment, tells the witness that it leaves, and releases.
#pragma once

#include "task.hpp"
#include "witness.hpp"

#include <random>

namespace rowlock::test {

class visit_task : public task {
 public:
  visit_task(const load_plan& plan, tally& counts, int index);

  void run(int round, std::stop_token stop) override;

 protected:
  // Waits until this task holds what it wants.
  virtual void enter(const std::stop_token& stop) = 0;
  virtual bool is_valid() const = 0;
  virtual std::vector<visit> holds() const = 0;
  // Does further work and checks inside. error(hold_lost) for a valid hold is never right.
  virtual void work() {}
  virtual void leave() = 0;

  // Tells the witness the new weights of the holds. False: the holds are not valid, and nothing was written.
  bool weigh(const std::vector<visit>& visits);

  const client& db() const { return plan().databases.front().db; }
  std::int64_t any(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>{from, to}(random_);
  }
  std::mt19937& random() { return random_; }

 private:
  bool tell(const std::function<void(witness&)>& words);
  void stay(std::int64_t asked_after);

  std::mt19937 random_;
};

class one_hold_task : public visit_task {
 public:
  using visit_task::visit_task;

 protected:
  bool is_valid() const override { return held_.valid(); }
  std::vector<visit> holds() const override {
    return {{held_.name(), held_.id().to_string(), held_.token().value(), held_.weight()}};
  }
  void leave() override { count(held_.release()); }

  hold held_;
};

}  // namespace rowlock::test
