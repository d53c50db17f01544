// The implementation of rowlock::hold, shared by the caller's object, the registry and a release that is under way.
#pragma once

#include "client/base/time_source.hpp"
#include "client/core/lease.hpp"
#include "model/annotated_mutex.hpp"
#include "model/lock.hpp"

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace rowlock::client_layer {

class engine;
struct release_operation;

// When a hold was granted, and its token.
struct grant_record {
  instant at{};
  model::token token = 0;
};

class hold_state {
 public:
  // time: the engine's. ending: for take_ending(); made here if it is null.
  hold_state(std::shared_ptr<client_layer::engine> engine, const time_source& time,
             model::lock_definition lock, model::hold_id id, model::token token,
             std::shared_ptr<client_layer::lease> lease, model::lock_mode mode, std::int64_t weight,
             std::shared_ptr<release_operation> ending = {});
  hold_state(const hold_state&) = delete;
  hold_state& operator=(const hold_state&) = delete;
  ~hold_state();

  client_layer::engine& engine() const noexcept { return *engine_; }
  const std::string& name() const noexcept { return lock_.name; }
  model::hold_id id() const noexcept { return id_; }
  model::token token() const noexcept { return token_.load(); }
  model::lock_mode mode() const noexcept { return mode_.load(); }
  std::int64_t weight() const noexcept { return weight_.load(); }
  const std::shared_ptr<client_layer::lease>& lease() const noexcept { return lease_; }

  bool is_valid() const noexcept;
  std::chrono::nanoseconds remaining() const noexcept;
  rowlock::loss loss() const noexcept;
  // If the hold is lost, the token of a source that has stopped before: the hold's own source runs the callbacks of
  // others, so only deliver() stops it. request_token() does the same.
  std::stop_token stop_token() const noexcept;
  // A token of that source. Requires: some hold_state has been made.
  static std::stop_token stopped_token() noexcept;

  // Marks the hold as lost, unless it was released or lost before. Returns true if this call has marked it;
  // the caller must then call deliver().
  bool lose(rowlock::loss reason) noexcept;
  // Fires the stop token. Runs the user's callbacks, so call it under no mutex.
  void deliver() noexcept;

  // Stores a release request and its time limit, unless the hold is over. Returns true if it is the hold's
  // first request; the caller must then call notify_request(). If memory runs out, nothing changes.
  bool request_release(const std::string& reason, instant until);
  void notify_request() noexcept;  // as deliver()
  std::stop_token request_token();
  std::optional<rowlock::release_request> request() const;

  // Marks the hold as released. Returns true for the first caller, unless the hold is lost. A hold past its deadline
  // is lost, too, but it is left to the watchdog to mark it and to have its holder notified.
  bool begin_release() noexcept;
  bool is_released() const noexcept { return fate_.load() == released; }
  // Whether it is marked as released or lost.
  bool has_ended() const noexcept { return fate_.load() != held; }
  // The operation that releases this hold. It was made with the hold, so a release cannot fail for lack of
  // memory. Only the caller to which begin_release() or lose() returned true may take it, once.
  std::shared_ptr<release_operation> take_ending() noexcept;

  // For linked_list, in the loss notifier: of lost holds, and of those with a release request.
  std::shared_ptr<hold_state> next_lost{};
  std::shared_ptr<hold_state> next_asked{};

  // Others waited when the hold was granted, so a fast release is unlikely to succeed. Call this before the
  // object is shared.
  void set_contended(bool contended) noexcept { contended_ = contended; }
  bool is_contended() const noexcept { return contended_; }

  // When the hold was granted. Call this before the object is shared.
  void set_granted_at(instant then) noexcept { granted_at_ = then; }
  grant_record grant() const noexcept { return {granted_at_, token()}; }
  hold_event event(hold_event::kind what) const;

  // If the hold is released before that time, its lock rests until then.
  void set_keep_until(instant then) noexcept { keep_until_.store(then); }
  instant keep_until() const noexcept { return keep_until_.load(); }

  // Whether the statement that ends the hold may hand the lock over to the head of the queue.
  bool is_fair() const noexcept { return lock_.fair; }
  model::lock_kind kind() const noexcept { return lock_.kind; }

  // A move is under way: the database may have the hold on another lease than lease().
  enum class move : std::uint8_t { none, within, away };  // away: to whoever adopts it
  void set_move(move under_way) noexcept { move_.store(under_way); }
  bool is_moving() const noexcept { return move_.load() != move::none; }
  bool is_moving_away() const noexcept { return move_.load() == move::away; }

  // The database has changed the mode, the weight or the token of the hold.
  void set_mode(model::lock_mode mode, std::int64_t weight, model::token token) noexcept;
  // It is in doubt whether the database has changed the hold, and it may still do so. The hold has at least
  // this mode and weight.
  void become_in_doubt(model::lock_mode mode, std::int64_t weight) noexcept;
  bool is_in_doubt() const noexcept { return in_doubt_.load(); }

  // Count the entries of a recursive lock. leave() returns true for the last entry, whose caller releases the
  // hold; from then on enter() returns false.
  bool enter() noexcept;
  bool leave() noexcept { return entries_.fetch_sub(1) == 1; }
  // Calls leave() if exactly one entry is left. Otherwise returns false, and nothing has changed.
  bool leave_last() noexcept;
  void undo_leave() noexcept { entries_.fetch_add(1); }
  std::size_t depth() const noexcept { return static_cast<std::size_t>(entries_.load()); }

 private:
  static constexpr int held = -1;
  static constexpr int released = -2;

  std::shared_ptr<client_layer::engine> engine_;
  const time_source& time_;
  model::lock_definition lock_;
  model::hold_id id_;
  std::atomic<model::token> token_;
  std::atomic<model::lock_mode> mode_;
  std::atomic<std::int64_t> weight_;
  std::atomic<bool> in_doubt_{false};  // whether the database has the hold in that mode and with that weight
  std::shared_ptr<client_layer::lease> lease_;
  std::atomic<int> fate_{held};  // held, released, or the loss
  std::atomic<int> entries_{1};
  std::atomic<move> move_{move::none};
  bool contended_ = false;
  instant granted_at_{};
  std::atomic<instant> keep_until_{};
  mutable model::annotated_mutex stop_mutex_;
  // Made with the hold, because stop_token() must not fail.
  std::stop_source stop_;
  // Made at first use: most holds never need one.
  std::optional<std::stop_source> asked_ ROWLOCK_GUARDED_BY(stop_mutex_);
  struct asked_for {
    std::string reason;
    instant until;
  };
  std::optional<asked_for> request_ ROWLOCK_GUARDED_BY(stop_mutex_);
  std::shared_ptr<release_operation> ending_;
};

}  // namespace rowlock::client_layer
