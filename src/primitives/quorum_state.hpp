// The implementation of a quorum_hold: the members' holds, and the notice when too few of them are valid.
#pragma once

#include "client/engine.hpp"

#include <rowlock/hold.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace rowlock::primitives {

using client_layer::hold_ptr;

// How long a majority of the holds (null: not granted) stays valid: the majority-th longest remaining time. Zero if
// fewer are valid.
std::chrono::nanoseconds remaining_of_majority(std::span<const hold_ptr> members, std::size_t majority);

// The holds that the members have granted. Destroying this object releases them, without waiting for the answers.
class member_holds {
 public:
  // Begins with a null for each member. Allocates what a release needs.
  explicit member_holds(std::size_t members);
  member_holds(const member_holds&) = delete;
  member_holds& operator=(const member_holds&) = delete;
  ~member_holds();

  hold_ptr& operator[](std::size_t member) noexcept { return holds_[member]; }
  std::span<const hold_ptr> all() const noexcept { return holds_; }

  // Releases all holds at once, and waits for each answer until `until` (empty: for the close_timeout of its client).
  // Needs no memory. `released`: the database has said that the hold stood until the release. Call it once.
  std::span<const release_result> release(std::optional<client_layer::instant> until);

 private:
  struct asked {
    client_layer::engine* engine;
    client_layer::release_answer answer;
    client_layer::instant until;
  };

  std::vector<hold_ptr> holds_;
  std::vector<asked> asked_;
  std::vector<release_result> results_;
};

class quorum_state {
 public:
  struct limits {
    std::size_t majority;
    std::chrono::nanoseconds drift;
    std::chrono::nanoseconds member_timeout;
  };
  // Requires: a majority has granted.
  quorum_state(std::shared_ptr<member_holds> members, const limits& settings, model::token token);
  quorum_state(const quorum_state&) = delete;
  quorum_state& operator=(const quorum_state&) = delete;
  ~quorum_state();

  bool is_valid() const noexcept;
  model::token token() const noexcept { return token_; }
  const std::string& name() const noexcept { return *name_; }
  std::chrono::nanoseconds remaining() const noexcept;
  // As hold_state::stop_token(): after a loss that is not told yet it is not the token that runs others' callbacks.
  std::stop_token stop_token() const noexcept;
  rowlock::loss loss() const noexcept;
  const std::vector<hold>& holds() const noexcept { return holds_; }
  bool is_forked() const noexcept;
  const client_layer::client_environment& environment() const noexcept {
    return first_->engine().environment();
  }
  // As the functions of quorum_hold.
  void set_data(const std::string& text) const;
  release_result release();

 private:
  using watch = std::stop_callback<std::function<void()>>;

  std::size_t standing() const noexcept;
  bool lose(rowlock::loss reason) noexcept;  // false: another thread tells of the loss
  void member_was_lost(rowlock::loss reason) noexcept;
  release_result release_lost(rowlock::loss reason);

  const std::shared_ptr<member_holds> members_;
  std::vector<hold> holds_;
  const client_layer::hold_state* first_;
  const std::string* name_;
  const limits settings_;
  const model::token token_;
  std::stop_source stop_;
  std::atomic<rowlock::loss> loss_{rowlock::loss::none};
  std::optional<release_result> released_;
  std::atomic<bool> over_{false};  // release() was called: it tells of a loss, and no member's notice does
  // Declared last, so that the watches are destroyed first, and no callback runs while the rest is destroyed.
  std::vector<std::unique_ptr<watch>> watches_;
};

}  // namespace rowlock::primitives
