// What operators read and change, and the values that go with it.
#pragma once

#include "store/lock_verbs.hpp"

namespace rowlock::store {

struct holder_info {
  lease_record lease;
  hold_id hold;
  std::int64_t weight = 1;
  model::lock_mode mode = model::lock_mode::exclusive;
  model::token token = 0;
  std::chrono::milliseconds held_for{0};
  std::chrono::milliseconds expires_in{0};  // negative: expired, not yet killed
  std::optional<std::string> data{};        // as stored, see lock_change::value and data
};

struct lock_info {
  model::lock_row row;
  std::int64_t waiters = 0;          // how many there are whose lease exists
  std::vector<holder_info> holders;  // those whose lease exists
  std::optional<release_request> request{};
};

struct waiter_info {
  model::waiter waiter;
  lease_record lease;
  std::chrono::milliseconds expires_in{0};
  bool alive = true;  // its lease exists
};

// The rules for calling these verbs are those of session (store.hpp).
class admin_verbs {
 public:
  static constexpr std::size_t no_limit = std::size_t{1} << 62;

  // -- reading: no row lock, no transaction id, no log --
  // The locks whose names follow `after`, by name in bytewise order, at most `limit` of them.
  virtual std::vector<lock_info> list(const std::string& after = {}, std::size_t limit = no_limit) = 0;
  virtual std::optional<lock_info> show(const std::string& name) = 0;
  virtual std::vector<waiter_info> queue(const std::string& name) = 0;  // by ticket
  // The locks that have waiters, dead or alive.
  virtual std::vector<std::string> waited_for() = 0;

  // -- upkeep --
  // Raises the epoch by hand, high enough that the next token of every name exceeds `above`.
  virtual std::int64_t raise_epoch(token above) = 0;
  // Stores how much later than its expiry a lease may be killed, by any client.
  virtual void set_skew(std::chrono::milliseconds skew) = 0;
  // Deletes up to `limit` locks that are free, have no queue and no permits, and were unused for `idle`.
  // Raises the floor above their tokens in the same transaction. Returns how many.
  virtual std::int64_t collect(std::chrono::milliseconds idle, std::size_t limit) = 0;
  // A sentence about a server setting that endangers one of rowlock's promises; empty: none is known.
  virtual std::string warning() const { return {}; }

 protected:
  ~admin_verbs() = default;
};

}  // namespace rowlock::store
