// An acquire of one lock, or a wait for a latch.
#pragma once

#include "client/call/call.hpp"

#include <memory>
#include <optional>
#include <string>

namespace rowlock::client_layer {

// One caller uses it at a time, except leave(), which any thread may call.
class acquire_call : public call {
 public:
  using result = hold_ptr;  // null: busy, the time is up, or a limited wait was stopped

  // as: the id of the hold, if a thread waits for this call. Empty: no thread waits for this call alone, so
  // acquire_options::detect_deadlock is refused. room: for the hold; taken here if it is empty.
  acquire_call(engine& on, const model::lock_request& request, const wait_limit& how_long,
               const acquire_options& how, std::optional<model::hold_id> as = {}, hold_room::place room = {});

  const acquire_ptr& operation() const noexcept { return operation_; }

  promised<hold_ptr>& answer() noexcept { return operation_->answer; }
  std::optional<instant> until() const noexcept { return until_; }
  void submit() { on().services().queue.submit(operation_); }
  void settled() noexcept;
  bool leave() noexcept;
  bool drop() noexcept;
  hold_ptr result_of(hold_ptr granted) const noexcept { return granted; }
  hold_ptr without_answer() const;
  std::string described() const;

 private:
  acquire_ptr operation_;
  wait_limit how_long_;
  std::optional<instant> until_;
};

// Throws error(invalid_argument) for options that only work while a thread waits.
void check_without_thread(const acquire_options& how);

// For a caller whose thread waits. Throws as mutex::acquire does.
hold_ptr acquire(engine& on, const model::lock_request& request, const wait_limit& how_long,
                 const acquire_options& how);

}  // namespace rowlock::client_layer
