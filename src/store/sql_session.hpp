// The verbs of the seam that need only a statement of the catalog, or two, and the decoding of the rows. They
// are the same in all SQL dialects; a dialect's session runs the statements.
#pragma once

#include "model/for_stores.hpp"
#include "store/history_verbs.hpp"
#include "store/rows.hpp"
#include "store/sql_value.hpp"
#include "store/store.hpp"

#include <rowlock/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::store {

class ROWLOCK_FOR_STORES sql_session : public session, public history_verbs {
 public:
  void set_skew(std::chrono::milliseconds skew) final;

  std::vector<lock_info> list(const std::string& after, std::size_t limit) final;
  std::optional<lock_info> show(const std::string& name) final;
  std::vector<waiter_info> queue(const std::string& name) final;
  std::vector<std::string> waited_for() final;
  held_page read_held(lease_id client, const std::string& after, std::size_t limit) override;
  stale find_stale(std::size_t limit, std::chrono::microseconds skew, const std::string& after) final;

  history_verbs& history() final { return *this; }
  std::vector<recording> recordings() final;
  void check_history() override;
  void record(const recording& what) final;
  bool stop_recording(const std::string& pattern) final;
  std::vector<history_line> read_history(const std::string& name, std::int64_t before,
                                         std::size_t limit) final;
  std::int64_t prune_history(const std::string& name, std::int64_t keep, std::chrono::hours age,
                             std::size_t limit) override;
  std::vector<std::string> names_with_history(const std::string& after, std::size_t limit) final;

 protected:
  // url_option: an option of the command that texts of errors tell to run, see migrate_command.
  explicit sql_session(const store_options& options, std::string url_option = {})
      : options_{options}, url_option_{std::move(url_option)} {}

  const std::string& url_option() const noexcept { return url_option_; }
  // The error for a table meta that lacks its one row.
  error no_meta_row() const;

  // How much of a table a statement reads.
  enum class extent : std::uint8_t { page, all };
  // Runs a statement that only reads, and passes its rows to `use`.
  virtual void read(const std::string& statement, sql_values values, extent how, const rows_reader& use) = 0;
  // Runs a statement in a transaction of its own, and returns how many rows it matched. A dialect may make the commit
  // more durable than `how` says.
  virtual std::int64_t write(const std::string& statement, sql_values values, durability how) = 0;
  // As write(), durably. If the statement matched a row, the transaction also changes
  // database_state::recordings. A dialect whose statements do not change it themselves overrides this.
  virtual std::int64_t write_recording(const std::string& statement, sql_values values) {
    return write(statement, values, durability::durable);
  }

 private:
  template <class Decode>
  auto decoded(const std::string& statement, sql_values values, Decode decode, extent how = extent::page);

  const store_options options_;
  const std::string url_option_;
};

}  // namespace rowlock::store
