#include "store/backends.hpp"
#include "store/postgres/postgres_migration_session.hpp"
#include "store/postgres/postgres_session.hpp"
#include "store/sql_catalog.hpp"

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
    return postgres_guard(context_->options, mode, false).sql;
  }

 private:
  std::shared_ptr<const postgres_context> context_;
  std::atomic<bool> is_deaf_{false};
};

}  // namespace

// The row lock that the guard's statement takes is enough on every server, so the guard has no second statement.
guard_texts postgres_guard(const store_options& options, model::lock_mode mode, bool) {
  // The application's connection may have another search_path.
  const auto schema = options.schema.empty() ? std::string{} : fmt::format("\"{}\".", options.schema);
  const sql_catalog qualified{embedded::postgres_queries(), schema + options.prefix};
  return {qualified[mode == model::lock_mode::shared ? "guard_shared" : "guard"]};
}

std::unique_ptr<database> open_postgres(const std::string& url, const store_options& options) {
  return std::make_unique<postgres_database>(url, options);
}

std::unique_ptr<migration_session> open_postgres_for_migration(const std::string& url,
                                                               const store_options& options) {
  return std::make_unique<postgres_migration_session>(url, options);
}

}  // namespace rowlock::store
