// The verbs of the seam for SQLite. A file has one writer at a time, so a verb that writes locks the whole
// database, and everything that it read stays true until it commits. An edit skips all of its rows if another
// transaction keeps the write lock.
#pragma once

#include "store/sql_session.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_file.hpp"
#include "store/sqlite/sqlite_transaction.hpp"
#include "store/sqlite/sqlite_watch.hpp"

namespace rowlock::store {

// Throws error(database) for a lease that exists and has expired.
void insert_lease(sqlite_connection& connection, const lease_record& lease);

class sqlite_session final : public sql_session {
 public:
  // Throws as database::connect does.
  sqlite_session(const std::string& path, std::shared_ptr<const sql_catalog> catalog,
                 const store_options& options);
  ~sqlite_session() override;

  database_state read_database_state() override;
  database_state record_database_state() override;
  std::int64_t raise_epoch(token above) override;

  void create_lease(const lease_record& lease) override;
  renewal_reply renew(std::span<const lease_id> leases) override;
  std::vector<lease_id> kill(std::span<const lease_id> leases, std::chrono::microseconds skew) override;
  void end(std::span<const lease_id> leases) override;

  std::vector<grant> acquire(std::span<const acquire_item> requests) override;
  std::vector<grant> acquire_all(std::span<const acquire_item> requests) override;
  std::vector<hold_id> release(std::span<const release_item> requests, durability how) override;
  // An edit costs no round trip here.
  std::optional<std::chrono::microseconds> enqueue(const acquire_item&, std::chrono::microseconds) override {
    return {};
  }
  std::optional<hand_over_reply> hand_over(const release_item&, std::chrono::microseconds) override {
    return {};
  }

  void create(std::span<const model::lock_definition> locks) override;
  std::vector<edit_result> edit_together(std::span<const edit_request> requests,
                                         const joint_decision& decide) override;

  std::vector<hold_status> find(std::span<const hold_query> holds) override;

  std::int64_t collect(std::chrono::milliseconds idle, std::size_t limit) override;

  void check_history() override {}  // who may write the file may write every table in it

  // Every commit is visible in the file itself, so nothing needs to be announced.
  void listen(lease_id client) override;
  void send_wakeups(std::span<const wakeup> told) override;
  bool wait(std::chrono::nanoseconds timeout) override;
  bool wait_holding(std::chrono::nanoseconds timeout) override;
  bool wait_idle(std::chrono::nanoseconds timeout) override;
  void end_wait() noexcept override;
  void interrupt() noexcept override;

  // A statement runs in this process and ends with its call: there are no ghosts.
  std::string backend() const override { return {}; }
  bool end_ghost(const std::string&) override { return true; }

 private:
  void read(const std::string& statement, sql_values values, extent how, const rows_reader& use) override;
  std::int64_t write(const std::string& statement, sql_values values, durability how) override;
  std::int64_t write_recording(const std::string& statement, sql_values values) override;

  // A transaction that has the write lock. The constructor throws error(unreachable) if the file at the path
  // is not the one that the session has open. finish() commits and checks that again, because nobody else
  // would see a grant in a file that has been replaced.
  class writing {
   public:
    // Throws error(contention) if the lock was not free within the statement timeout.
    writing(sqlite_session& session, durability how);
    // Gives up, and is then false, if the lock was not free and nobody has committed for `wait_limit`, which
    // means that one transaction keeps the lock; at the latest after the statement timeout.
    writing(sqlite_session& session, durability how, std::chrono::milliseconds wait_limit);
    explicit operator bool() const noexcept { return transaction_.has_value(); }
    void finish();

   private:
    sqlite_session& session_;
    std::optional<sqlite_transaction> transaction_;
  };

  bool take_write_lock(durability how, std::chrono::milliseconds wait_limit);
  void check_file(bool outcome_unknown) const;
  void begin_write();
  database_state state_now();
  static token clock_token();
  token next_floor();
  std::optional<token> acquire_exclusive(const acquire_item& request);
  std::optional<token> acquire_shared(const acquire_item& request);
  bool release_exclusive(const release_item& request);
  bool release_shared(const release_item& request);
  std::int64_t data_version();
  // first_look: how long after a write the session first looks for a commit.
  bool wait_and_measure(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_look);
  bool wait_for_commit(std::chrono::nanoseconds timeout, std::chrono::nanoseconds first_look);

  sqlite_connection connection_;
  sqlite_file file_;
  sqlite_watch watch_;
  bool has_written_ = false;  // a transaction has committed
  std::int64_t seen_version_ = 0;
  std::chrono::steady_clock::time_point reported_at_{};
  // The processor time of the waiting thread when it left wait(), and how much it has used outside of wait()
  // since the last report.
  std::chrono::nanoseconds left_at_processor_time_{0};
  std::chrono::nanoseconds spent_on_report_{0};
  // After which time wait() looks for a commit although no write is noticed. It is kept from one wait() to
  // the next, because a write that one wait() has noticed may become visible only during the next.
  std::chrono::nanoseconds next_look_{std::chrono::hours{1}};
};

}  // namespace rowlock::store
