// What an operator does: look, free by force, clean up. The rowlock command is a thin cover of this.
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

ROWLOCK_BEGIN_NAMESPACE

struct holder_info {
  std::string host;
  std::int64_t pid = 0;
  std::string application;
  std::string hold_id;
  std::string lease_id;
  std::string mode;         // exclusive or shared
  std::int64_t weight = 1;  // how much of the lock's capacity it has
  std::int64_t token = 0;
  std::chrono::milliseconds held_for{0};
  std::chrono::milliseconds expires_in{0};  // negative: expired, and not yet taken over
};

struct lock_info {
  std::string name;
  std::string kind;  // mutex, shared_mutex, semaphore, ..., or unknown: a later version's
  std::int64_t capacity = 0;
  std::int64_t in_use = 0;
  bool fair = true;
  std::int64_t token = 0;  // of the latest grant
  std::int64_t waiters = 0;
  std::vector<holder_info> holders;
  std::optional<release_request> request;  // that one of the holders has been asked, and how long it has left
};

// How to ask for a lock that others hold.
struct request_options {
  std::string reason{};                      // told to the holders: UTF-8, at most 4096 bytes, no NUL
  std::chrono::milliseconds within{30'000};  // how long to wait for them; up to 24 hours
  bool then_force = false;                   // take it from those who have not given it up by then
  std::stop_token stop{};                    // ends the wait; then nothing is forced
};

enum class request_result {
  unheld,    // nobody held it
  released,  // all who held it have given it up, or are gone
  kept,      // somebody holds it still
  forced,    // it was taken from somebody
};
ROWLOCK_EXPORT const char* to_string(request_result result) noexcept;

struct waiter_info {
  std::int64_t ticket = 0;
  std::string host;
  std::int64_t pid = 0;
  std::string application;
  std::string hold_id;
  std::string lease_id;
  std::string mode;         // exclusive or shared
  std::int64_t weight = 1;  // how much of the lock's capacity it waits for
  std::chrono::milliseconds expires_in{0};
  bool alive = true;  // false: its process is gone; it will be skipped
};

// One of those who wait for each other in a circle.
struct stuck_waiter {
  std::string waits_for;  // the name of the lock; the next one in the circle has it, or waits before this one
  waiter_info waiter;
};

struct sweep_result {
  std::int64_t leases = 0;  // expired ones that were killed
  std::int64_t locks = 0;   // locks that were freed, handed on or cleaned
};

// Uses its client's connections and makes no lease. Everything may be called from any thread. Throws error as
// connect() does, and error(unreachable) when the connection breaks, or gives no answer for as long as a call
// may take (options::connect_timeout and twice the statement_timeout); outcome_unknown() then says whether it
// may have happened. Otherwise nothing has changed when something is thrown; what sweep() and collect() had
// done before stays done.
class ROWLOCK_EXPORT admin {
 public:
  explicit admin(client db);

  std::vector<lock_info> list();                            // by name
  std::optional<lock_info> show(const std::string& name);   // empty: no such lock
  std::vector<waiter_info> queue(const std::string& name);  // in ticket order

  // Those who wait for each other in a circle, for ever: each circle once, its last waiting for its first. A
  // thread's acquires count as one who waits and holds; what was acquired in one thread and is released by
  // another can show a circle that is none. Reads twice, and shows what stood both times.
  std::vector<std::vector<stuck_waiter>> cycles();

  // Takes the lock from its holders, or from the one with that hold_id alone: the token rises, who is first
  // in the queue is granted, and they learn of it (loss::forced): at once, or with the next renewal where a
  // database has to be asked for news (MariaDB, MySQL) and nobody of their client waits. False: nobody held
  // it; so it is with a latch, to which nothing happens. Throws error(invalid_argument) for an impossible
  // name or id, error(contention) when a guarded transaction of a holder's keeps the row for longer than
  // options::statement_timeout.
  bool release(const std::string& name, const std::string& hold_id = {});

  // Asks all who hold it to give it up, and waits until they have: they hear it by hold::release_requested(),
  // with the reason, and may go on; whoever gets the lock after them is not meant. Throws as release(),
  // error(invalid_argument) for impossible options, and error(cancelled) when it is stopped before the
  // database has said that they were asked. Stopped later it returns kept, at once.
  request_result request_release(const std::string& name, const request_options& how = {});

  // Kills expired leases and frees what they held. Clients do this too; it hurts nobody.
  sweep_result sweep();

  // Deletes locks that are free and unused for that long; returns how many. Tokens of their names go on
  // rising.
  std::int64_t collect(std::chrono::milliseconds idle);

  std::int64_t epoch();
  // After a restore from a backup: later tokens of every name exceed `above` and all that the epoch had
  // allowed. Returns the new epoch. Grants whose statement is under way at this moment may still carry the
  // old one.
  std::int64_t raise_epoch(std::int64_t above = 0);

  // How much later than its expiry a lease may be killed, as stored in the database for all who use it. Each
  // client goes by this or by its own options::skew, whichever is longer; a connected client reads it again
  // with each renewal. Throws error(invalid_argument) outside 0 to 24 hours; nothing is changed then.
  std::chrono::milliseconds skew();
  void set_skew(std::chrono::milliseconds skew);

 private:
  client db_;
};

ROWLOCK_END_NAMESPACE
