// How a client behaves. Every field has a default that suits a service on a healthy network.
// connect() checks them together and throws error(invalid_argument) with both values where two contradict.
#pragma once

#include <rowlock/config.hpp>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

ROWLOCK_BEGIN_NAMESPACE

enum class log_level { debug, info, warning, error };

struct options {
  // Starts the name of each of rowlock's tables; the migrations must have been applied with the same one.
  std::string prefix = "rowlock_";

  // PostgreSQL: the schema of the tables. Empty: found through the connection's search_path.
  std::string schema;

  // PostgreSQL behind a pooler that gives each transaction another session, as PgBouncer does with
  // pool_mode = transaction: a URL past it to the same database, where one connection of the client hears
  // wake-ups. Without it who waits asks every 50 to 100 ms. While it cannot be reached, the poll_interval
  // makes up for it.
  std::string listen_url;

  // Shown to operators by `rowlock list`, and as application_name in PostgreSQL. Empty: the program's name.
  std::string application;

  // How long a hold outlives a client that vanished. 1 second to 24 hours.
  std::chrono::milliseconds ttl{30'000};

  // How often the client's one lease is renewed. 0: a third of the ttl. At most half of the ttl.
  std::chrono::milliseconds renew_interval{0};

  // The hold counts as lost this long (plus a thousandth of the ttl) before the database would let anyone
  // else in: room for clocks that differ in rate, and for the program to notice. At most a quarter of the
  // ttl. All holders must be told of a loss within it, so it limits how many holds a client may have: 250 for
  // each millisecond of it, and a thousand in any case; 32,500 by default. What goes beyond is refused with
  // error(invalid_argument).
  std::chrono::milliseconds margin{100};

  // How much later than its expiry a foreign lease is killed, at least. Needed where several servers' clocks
  // judge. What is stored in the database counts if it is longer (`rowlock epoch skew`, admin::set_skew): it
  // holds for the command and for every client, and is the better place.
  std::chrono::milliseconds skew{0};

  // How long one statement may take before its connection is given up as dead. It also bounds how long a
  // call outlasts its own timeout. At most a third of the ttl, so that a dead connection is noticed in time.
  std::chrono::milliseconds statement_timeout{5'000};

  // How long one attempt to connect may take: name resolution, the login and the first statements together.
  // Name resolution and MySQL's login cannot be broken off. An attempt that hangs there is left behind on a
  // thread of its own, and its connection, should it come at last, is closed; until then the client counts
  // each further attempt as failed, instead of leaving more than a few such threads.
  std::chrono::milliseconds connect_timeout{5'000};

  // The longest sleep of a waiter between two looks at the database, should a wake-up get lost.
  std::chrono::milliseconds poll_interval{1'000};

  // How often expired leases of others are cleaned up in the background. 0: never.
  std::chrono::milliseconds sweep_interval{60'000};

  // How long close() and destructors wait for the database at most.
  std::chrono::milliseconds close_timeout{2'000};

  // For programs that only look (admin::list, show, queue; migrator::status, verify): connects to a standby
  // and to a read-only server too. Whatever would write, acquiring a lock included, throws error(read_only).
  bool read_only = false;

  // Connections at most: one that keeps the lease and hears wake-ups, the others carry statements. 2 to 16.
  // SQLite, where one connection writes at a time, always uses two.
  int connections = 3;

  // Silent by default. Called under no lock, one line at a time, by connect() and then on a thread that does
  // nothing else: a slow function delays no renewal and no notice of a loss, and lines that it cannot keep up
  // with are left out and counted. close() waits for a call that has begun, and once close() has returned
  // there is no other. What it throws is ignored. No secrets are passed.
  std::function<void(log_level, std::string_view)> log;
};

// What a lock is, beside its name, kind and capacity: stored with it, so give the same wherever it is used.
struct lock_options {
  // False: whoever comes while it is free gets it, also before those who wait; those are looked for two
  // milliseconds after a release. Faster where a few processes want it all the time, each often, for nobody
  // is waited for (`rowlock-bench unfair`); somebody may wait very long. Another fairness than the stored one
  // is error(mismatch).
  bool fair = true;

  // How long the lock rests when its exclusive holder was lost and not released, before anybody is granted
  // it: time for what the lost one had begun to come to its end. Counted from when the loss is found, by
  // whoever asks next or by a sweep. The longer of what is stored, by who used the name first, and of what
  // the next one says. A release by force does not count as a loss. 0 to 24 hours.
  std::chrono::milliseconds delay{0};
};

// How one acquire behaves.
struct acquire_options {
  // 0: the hold lasts until released, renewed in the background. Otherwise it is never renewed and ends after
  // this time at the latest (100 milliseconds to 24 hours); a lease of its own carries it.
  std::chrono::milliseconds ttl{0};

  // Who releases it earlier leaves it taken until this long after the grant, for nobody: two runs of a job on
  // machines whose clocks differ a little are then one. The release itself does not wait. A process that dies
  // keeps it as long as its lease lives, which may be shorter. 0 to 24 hours, at most an explicit ttl.
  std::chrono::milliseconds min_hold{0};

  // Looks every options::poll_interval whether those who wait for each other do so in a circle that this call
  // is part of; then one of them, which has asked for this, throws error(deadlock) that names the circle, and
  // nothing of its attempt remains. What a thread has acquired counts as held by that thread. Reads all locks
  // that somebody waits for.
  bool detect_deadlock = false;

  // Stops the wait: acquire() then throws error(cancelled), try_acquire_for() returns empty.
  std::stop_token stop{};
};

ROWLOCK_END_NAMESPACE
