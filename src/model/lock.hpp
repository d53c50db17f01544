// The rows of the database model as values, in the words of docs/design.md. No I/O.
#pragma once

#include "model/ids.hpp"

#include <rowlock/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

// Whether many clients may hold the lock at once, each with a permit that lives as long as its lease.
constexpr bool is_shareable(lock_kind kind) {
  return kind == lock_kind::shared_mutex || kind == lock_kind::semaphore;
}

// Whether the lock's waiters wait for each other instead of a holder: they are released together.
constexpr bool is_rendezvous(lock_kind kind) {
  return kind == lock_kind::latch || kind == lock_kind::barrier;
}

ROWLOCK_END_NAMESPACE

namespace rowlock::model {

using token = std::int64_t;

using rowlock::is_rendezvous;
using rowlock::is_shareable;
using rowlock::lock_kind;
using rowlock::lock_mode;

// A kind is stored as its name.
lock_kind parse_lock_kind(std::string_view text) noexcept;

// Whether a hold leaves room for others. An exclusive hold stands in the lock's own row and takes the whole
// capacity; a shared hold is a permit with a weight. A later version's mode counts as exclusive.
lock_mode parse_lock_mode(std::string_view text) noexcept;

// The capacity of every shared_mutex: a reader has the weight 1, a writer the whole capacity.
inline constexpr std::int64_t shared_mutex_capacity = 1'000'000;

// The limit for a semaphore's permits and for a latch's count.
inline constexpr std::int64_t highest_capacity = 1'000'000'000;

// The properties that a stored lock must have, and with which a missing lock is created.
struct lock_definition {
  std::string name;
  lock_kind kind = lock_kind::mutex;
  std::int64_t capacity = 1;
  bool fair = true;  // a request never overtakes waiters
  // How long the lock rests after its exclusive holder was lost instead of releasing it. The longer of the
  // stored delay and the next caller's delay applies.
  std::chrono::milliseconds delay{0};
};

// What a caller asks for.
struct lock_request {
  lock_definition definition;
  lock_mode mode = lock_mode::exclusive;
  std::int64_t weight = 1;  // of a shared request
  bool everything = false;  // a shared request for every free permit, if nobody waits; it never waits itself
};

// One row of `lock`. Tokens only rise (I2); `token` is the latest grant's. While somebody holds the lock exclusively,
// lease and hold are set and in_use equals capacity; otherwise in_use is the sum of the permits' weights.
struct lock_row {
  std::string name;
  lock_kind kind = lock_kind::mutex;
  std::int64_t capacity = 1;
  std::int64_t in_use = 0;
  model::token token = 0;
  std::int64_t next_ticket = 1;
  // No row of the lock's queue has a smaller ticket. Queues are read from this ticket on, to skip the rows of waiters
  // that have left: the database may keep those rows for as long as an old snapshot lives.
  std::int64_t head_ticket = 0;
  std::optional<lease_id> lease;
  std::optional<hold_id> hold;
  bool has_queue = false;
  bool fair = true;
  std::chrono::milliseconds delay{0};

  bool operator==(const lock_row&) const = default;
};

// The definition of a stored lock, for comparison with what a caller expected.
lock_definition definition_of(const lock_row& row);

// Whether a lock is the expected one (I11). The delay may differ: whoever created the lock chose it.
bool is_same_lock(const lock_definition& asked, const lock_definition& stored) noexcept;

// One row of `permit`: a shared hold.
struct permit {
  hold_id hold;
  lease_id lease;
  std::int64_t weight = 1;
  model::token token = 0;

  bool operator==(const permit&) const = default;
};

// One row of `queue`: a waiter, in ticket order. The weight of an exclusive waiter is the lock's capacity.
struct waiter {
  std::int64_t ticket = 0;
  hold_id hold;
  lease_id lease;
  std::int64_t weight = 1;
  lock_mode mode = lock_mode::exclusive;

  bool operator==(const waiter&) const = default;
};

// Whether a stored hold is over, and only keeps the lock until its lease ends. A lock that rests has a lease and a nil
// hold; a permit that rests is on a lease whose id is that of its hold.
constexpr bool rests(hold_id hold, lease_id lease) {
  return hold.is_nil() || lease == lease_id::belonging_to(hold);
}

// What is known of a lease that exists. A lease is dead when its row is missing. An expired lease lives until
// it is killed, so "expired" only says that a kill would succeed now.
struct lease_view {
  lease_id id;
  lease_id client;  // the client process's own lease, to which wake-ups and notices go
  std::chrono::microseconds expires_in{0};  // on the database's clock; negative: past
  std::chrono::milliseconds ttl{0};         // how long the lease lives after a renewal
};

// The token of a new grant: above every earlier token of the name, and at least the epoch's floor (I2).
constexpr token next_token(token stored, token epoch_floor) {
  return stored + 1 > epoch_floor ? stored + 1 : epoch_floor;
}

// An epoch leaves room for 2^21 tokens of a name. Epochs are seconds since 2026-01-01 on the database's
// clock, so tokens stay below 2^53 for a century. The schema computes the same floor (meta.epoch_floor), except on
// MariaDB and MySQL, where the statements compute it.
inline constexpr int epoch_shift = 21;

// Version 1 of the schema left room for 2^27 tokens, so that one of its epochs is as long as this many seconds.
inline constexpr int old_epoch_shift = 27;
inline constexpr std::int64_t seconds_per_old_epoch = std::int64_t{1} << (old_epoch_shift - epoch_shift);

constexpr token epoch_floor(std::int64_t epoch) {
  return epoch << epoch_shift;
}

constexpr std::int64_t epoch_of(token of) {
  return of >> epoch_shift;
}

// The floor of the first epoch whose tokens are all above the token `of`.
constexpr token floor_above(token of) {
  return epoch_floor(epoch_of(of) + 1);
}

// The database's clock as a token: 2^21 for each second since 2026-01-01, in steps of the clock's microseconds. No name
// is granted that often, so the clock stays ahead of the tokens of every name, unless the epoch was raised above it.
constexpr token clock_token(std::chrono::microseconds since_2026) {
  constexpr std::int64_t in_a_second = 1'000'000;
  const auto seconds = std::max<std::int64_t>(since_2026.count(), 0) / in_a_second;
  const auto rest = std::max<std::int64_t>(since_2026.count(), 0) % in_a_second;
  return (seconds << epoch_shift) + (rest << epoch_shift) / in_a_second;
}

// A new name's first token is the clock's, less this lag: a name whose row somebody has deleted begins above its
// earlier tokens. The lag is for a fail-over that loses new names: the promoted server grants tokens above those of the
// lost names if its clock is behind its predecessor's by less than the lag.
inline constexpr std::int64_t new_name_lag_s = 60;
inline constexpr token new_name_lag = epoch_floor(new_name_lag_s);

// The floor of the epoch that follows `recorded`, when the clock shows `clock`. token_floor: the stored one. The floor
// lies in a later epoch, so that libraries that count in seconds see the epoch rise. Two standbys of one primary have
// the same record and are promoted at different times, so their floors must differ, even when the record is ahead of
// the clock (it was raised by hand, or by a version that counted otherwise).
constexpr token next_floor(std::int64_t recorded, token token_floor, token clock) {
  const bool is_new = recorded == 0 && token_floor == 0;
  if (is_new && clock > 2 * new_name_lag) return clock - new_name_lag;
  constexpr token apart = epoch_floor(4096);  // promotions that lie fewer seconds apart still differ
  const auto lowest = std::max(epoch_floor(recorded + 1), token_floor + 1);
  return clock >= lowest ? clock : lowest + clock % apart;
}

}  // namespace rowlock::model
