// All orders of a scenario one after the other, or a sample that a seed decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace rowlock::test {

// The choices of one run.
class order {
 public:
  virtual ~order() = default;
  virtual std::size_t pick(std::size_t n) = 0;
  virtual bool is_patient() const { return true; }  // as for step_scheduler
};

class random_order final : public order {
 public:
  explicit random_order(std::uint64_t seed);
  std::size_t pick(std::size_t n) override;
  bool is_patient() const override { return patient_; }
  double orders_like_this() const { return orders_; }  // an estimate of the number of orders

 private:
  std::mt19937_64 random_;
  bool patient_ = true;
  bool stays_ = false;  // prefers to go on with the same connection
  std::size_t last_ = 0;
  double orders_ = 1;
};

// All orders one after the other; the first choice changes last.
class next_order final : public order {
 public:
  std::size_t pick(std::size_t n) override;
  // Moves to the next order. False: there are no more.
  bool advance();

 private:
  struct choice {
    std::size_t picked, of;
  };
  std::vector<choice> choices_;
  std::size_t at_ = 0;
};

}  // namespace rowlock::test
