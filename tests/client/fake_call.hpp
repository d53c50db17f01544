// A call that asks nobody: the test answers it.
#pragma once

#include "client/base/promised.hpp"
#include "client/call/call.hpp"

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::test {

// What a test answers, and what becomes of it.
struct fake {
  client_layer::promised<int> answered;
  std::optional<client_layer::instant> until{};
  std::stop_token stop{};
  bool is_refused = false;     // where it cannot be right
  bool fails = false;          // when it is submitted
  bool leaves_at_once = true;  // otherwise it still waits for its answer
  bool answers_late = false;   // when it leaves
  std::atomic<int> submitted{0};
  std::atomic<int> left{0};
  std::atomic<int> dropped{0};
};

class fake_call : public client_layer::call {
 public:
  using result = int;

  fake_call(client_layer::engine& on, fake& as) : call(on, as.stop), as_(as) {
    if (as.is_refused) throw error(errc::invalid_argument, "refused");
  }
  client_layer::promised<int>& answer() noexcept { return as_.answered; }
  std::optional<client_layer::instant> until() const noexcept { return as_.until; }
  void submit() {
    ++as_.submitted;
    if (as_.fails) throw error(errc::contention, "failed");
  }
  bool leave() noexcept {
    ++as_.left;
    if (as_.answers_late) as_.answered.complete(7);
    return as_.leaves_at_once && as_.answered.give_up();
  }
  bool drop() noexcept {
    ++as_.dropped;
    return as_.answered.give_up();
  }
  int result_of(int answered) const { return answered; }
  int without_answer() const { return -1; }
  std::string described() const { return "a test"; }

 private:
  fake& as_;
};

}  // namespace rowlock::test
