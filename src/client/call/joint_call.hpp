// An acquire of several locks, all or none.
#pragma once

#include "client/call/joint_acquire.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::client_layer {

// One caller uses it at a time, except leave(), which any thread may call.
class joint_call : public call {
 public:
  using result = joint_acquire::holds;  // empty: busy, the time is up, or a limited wait was stopped

  // as: see acquire_call. Throws what joint_acquire throws.
  joint_call(engine& on, const std::vector<model::lock_request>& wanted, const wait_limit& how_long,
             const acquire_options& how, std::optional<model::hold_id> as = {});

  promised<joint_acquire::holds>& answer() noexcept { return joint_->answer(); }
  std::optional<instant> until() const noexcept { return until_; }
  void submit() { joint_->submit(); }
  bool leave() noexcept;
  bool drop() noexcept;
  joint_acquire::holds result_of(joint_acquire::holds granted) const noexcept { return granted; }
  joint_acquire::holds without_answer() const;
  std::string described() const { return "the acquire of several locks"; }

 private:
  const wait_limit how_long_;
  std::shared_ptr<joint_acquire> joint_;
  std::optional<instant> until_;
  std::optional<error> failure_;  // why there was no answer when the call was left
};

// For a caller whose thread waits. Throws as acquire_all does.
std::vector<hold_ptr> acquire_together(engine& on, const std::vector<model::lock_request>& wanted,
                                       const wait_limit& how_long, const acquire_options& how);

}  // namespace rowlock::client_layer
