// The problems that `rowlock doctor` looks for. Each store has a table of its own checks, after those that all stores
// share; src/doctor evaluates them.
#pragma once

#include "store/server_facts.hpp"

#include <rowlock/doctor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace rowlock::store {

// What must be so for a check to fire. A table combines conditions with && and ||; the result reads the facts of both.
struct condition {
  std::vector<std::string_view>
      reads;  // if one of these facts is unknown, nobody can say whether the check fires
  std::function<bool(const server_facts&)> holds;
};

ROWLOCK_FOR_STORES condition operator&&(condition left, condition right);
ROWLOCK_FOR_STORES condition operator||(condition left, condition right);
// Calls is_so only if the server has all of these facts; otherwise the condition does not hold.
ROWLOCK_FOR_STORES condition computed(std::vector<std::string_view> reads,
                                      std::function<bool(const server_facts&)> is_so);

// A fact, as a condition names it. A comparison does not hold where the server does not have the fact.
class ROWLOCK_FOR_STORES fact {
 public:
  explicit fact(std::string_view name) : name_(name) {}

  condition is(std::string_view value) const;
  condition is_not(std::string_view value) const;
  condition is_at_least(std::int64_t number) const;
  condition is_below(std::int64_t number) const;
  // Holds if this number is at least 80 % of another fact, the limit.
  condition nearly_fills(std::string_view limit) const;
  condition is_there() const;
  condition is_absent() const;

 private:
  std::string_view name_;
};

// A row of a table. The texts are for people. In them {name} stands for the value of the fact `name`.
struct check {
  std::string_view code;
  severity level;
  condition when;
  std::string_view found;
  std::string_view why;
  std::string_view remedy;
};

std::span<const check> common_checks();
std::span<const check> postgres_checks();
std::span<const check> mysql_checks();
std::span<const check> sqlite_checks();

// Limits and texts that the tables of several stores use.
inline constexpr std::int64_t long_transaction_s = 600;
inline constexpr std::string_view half_pages =
    "Unless the file system never writes half a page (ZFS), "
    "a crash of the machine can damage rowlock's tables.";
inline constexpr std::string_view lost_grants =
    "A fail-over loses the latest grants: two clients may believe that they hold one lock, "
    "until the first one learns of the loss. Tokens keep rising.";
inline constexpr std::string_view lost_connections =
    "A client that loses its connection and gets no new one cannot renew its lease, and loses its holds.";
inline constexpr std::string_view fewer_connections =
    "raise max_connections, set options::connections to 2, or share one client between threads";
inline constexpr std::string_view only_reads = "It can read locks, but not use them.";
inline constexpr std::string_view too_many_rights =
    "A program with these rights could change grants or drop the tables by mistake.";
inline constexpr std::string_view grant_to_run =
    "grant what rowlock migrate grants --as run prints; docs/operations.md, \"Rights\"";

}  // namespace rowlock::store
