#include "store/postgres/postgres_database.hpp"

#include "store/postgres/postgres_migration_session.hpp"
#include "store/postgres/postgres_session.hpp"

#include <fmt/format.h>

#include <atomic>

namespace rowlock::store {

namespace {

class postgres_database final : public database {
 public:
  postgres_database(const std::string& url, const store_options& options)
      : context_{std::make_shared<const postgres_context>(url, options)} {}

  std::unique_ptr<session> connect(connect_watch& watch) override {
    auto made = std::make_unique<postgres_session>(context_, watch);
    if (made->is_pooled() && !context_->listen_conninfo) is_deaf_.store(true);
    return made;
  }

  std::string_view dialect() const noexcept override { return "postgres"; }
  bool must_poll() const noexcept override { return is_deaf_.load(); }

  std::string guard_sql(model::lock_mode mode) const override {
    const auto& options = context_->options;
    const auto schema = options.schema.empty() ? std::string{} : fmt::format("\"{}\".", options.schema);
    if (mode == model::lock_mode::exclusive) {
      return fmt::format("SELECT 1 FROM {}{}lock WHERE name = $1 AND hold_id = $2::uuid FOR KEY SHARE",
                         schema, options.prefix);
    }
    // The permit may be gone when the wait for the lock's row ends, and this statement's snapshot would still
    // show it. So it is locked too, behind the row: a row that is gone cannot be.
    return fmt::format(
        "WITH l AS MATERIALIZED (SELECT name FROM {0}{1}lock WHERE name = $1 FOR KEY SHARE) "
        "SELECT 1 FROM {0}{1}permit AS p JOIN l ON l.name = p.name WHERE p.hold_id = $2::uuid "
        "FOR KEY SHARE OF p",
        schema, options.prefix);
  }

 private:
  std::shared_ptr<const postgres_context> context_;
  std::atomic<bool> is_deaf_{false};
};

}  // namespace

std::unique_ptr<database> open_postgres(const std::string& url, const store_options& options) {
  return std::make_unique<postgres_database>(url, options);
}

std::unique_ptr<migration_session> open_postgres_for_migration(const std::string& url,
                                                               const store_options& options) {
  return std::make_unique<postgres_migration_session>(url, options);
}

}  // namespace rowlock::store
