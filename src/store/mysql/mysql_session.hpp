// The store's verbs on one MySQL or MariaDB connection.
#pragma once

#include "store/hot_row.hpp"
#include "store/mysql/mysql_setup.hpp"
#include "store/sql_session.hpp"
#include "store/waker.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::store {

class mysql_session final : public sql_session {
 public:
  mysql_session(std::shared_ptr<const mysql_context> context, connect_watch& watch);

  database_state read_database_state() override;
  database_state record_database_state() override;
  std::int64_t raise_epoch(token above) override;

  void create_lease(const lease_record& lease) override;
  renewal_reply renew(std::span<const lease_id> leases) override;
  std::vector<lease_id> kill(std::span<const lease_id> leases, std::chrono::microseconds skew) override;
  void end(std::span<const lease_id> leases) override;

  // These three always commit durably, because InnoDB has no asynchronous commit for a single session.
  std::vector<grant> acquire(std::span<const acquire_item> requests) override;
  std::vector<grant> acquire_all(std::span<const acquire_item> requests) override;
  std::vector<hold_id> release(std::span<const release_item> requests, durability how) override;

  // Each of these two is one script.
  std::optional<std::chrono::microseconds> enqueue(const acquire_item& request,
                                                   std::chrono::microseconds skew) override;
  std::optional<hand_over_reply> hand_over(const release_item& request,
                                           std::chrono::microseconds skew) override;

  void create(std::span<const model::lock_definition> locks) override;
  std::vector<edit_result> edit_together(std::span<const edit_request> requests,
                                         const joint_decision& decide) override;

  std::vector<hold_status> find(std::span<const hold_query> holds) override;
  void make_durable(lease_id own) override { renew_one(own); }

  std::int64_t collect(std::chrono::milliseconds idle, std::size_t limit) override;

  std::int64_t prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                             std::size_t limit) override;

  // MySQL sends no notifications: send_wakeups() leaves a mark on the client's lease, and poll_wakeups() looks for it.
  void listen(lease_id client) override;
  void send_wakeups(std::span<const wakeup> told) override;
  wakeup_poll poll_wakeups() override;
  bool wait(std::chrono::nanoseconds timeout) override;
  void end_wait() noexcept override;
  void interrupt() noexcept override;

  std::string backend() const override;
  bool end_ghost(const std::string& backend) override;

  std::string warning() const override { return facts_.danger; }

 private:
  void read(const std::string& statement, sql_values values, extent how, const rows_reader& use) override;
  std::int64_t write(const std::string& statement, sql_values values, durability how) override;
  std::int64_t write_recording(const std::string& statement, sql_values values) override;

  bool is_unseen(std::int64_t cluster_seen) const;
  // Whether each statement can ask the server that executes it for its identity. Only MySQL can tell that,
  // and the nodes of a cluster share theirs.
  bool answers_for_itself() const { return !connection_.is_mariadb() && !facts_.clustered; }
  mysql_value identity() const;  // for a statement that only the recorded server may execute
  database_state note_database_state(const rows& row);  // row: of read_database_state or of a renewal
  renewal_reply renew_one(const lease_id& lease);
  renewal_reply read_renewal(rows&& found);
  std::vector<grant> acquire_exclusive(std::span<const acquire_item> requests);
  mysql_values values_of(std::span<const acquire_item> requests) const;
  std::vector<grant> acquire_shared(std::span<const acquire_item> requests);
  std::vector<grant> acquire_one(const acquire_item& request);
  std::vector<hold_id> release_exclusive(std::span<const release_item> requests);
  std::vector<hold_id> release_shared(std::span<const release_item> requests);
  std::optional<mysql_rows> read_permit(const std::string& script, const std::string& name,
                                        mysql_values values);
  std::int64_t read_hints();

  std::shared_ptr<const mysql_context> context_;
  mysql_opened opened_;
  mysql_connection& connection_ = *opened_.connection;
  const mysql_facts& facts_ = opened_.facts;
  // The identity of the server that answered last, and when that server was started.
  std::string server_ = facts_.identity;
  std::int64_t up_since_ = facts_.up_since;
  std::string identity_ = server_;  // to be compared with the recorded one; note_database_state() sets it
  hot_row hot_{context_->options.statement_timeout};
  waker waker_;
  std::vector<lease_id> listened_;
  std::int64_t hints_ = 0;  // the value that was read last
  std::atomic<bool> interrupted_{false};
};

}  // namespace rowlock::store
