#include "store/backends.hpp"
#include "store/mysql/mysql_migration_session.hpp"
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

namespace {

guard_texts guard_of(const sql_catalog& catalog, model::lock_mode mode, bool clustered) {
  const bool shared = mode == model::lock_mode::shared;
  if (!clustered) return {catalog[shared ? "guard_shared" : "guard"]};
  return {catalog[shared ? "guard_read_shared" : "guard_read"],
          catalog[shared ? "guard_write_shared" : "guard_write"]};
}

class mysql_database final : public database {
 public:
  mysql_database(const std::string& url, const store_options& options)
      : context_{std::make_shared<const mysql_context>(url, options)} {}

  std::unique_ptr<session> connect(connect_watch& watch) override {
    return std::make_unique<mysql_session>(context_, watch);
  }
  std::string_view dialect() const noexcept override { return "mysql"; }
  bool must_poll() const noexcept override { return true; }
  std::string guard_sql(model::lock_mode mode) const override {
    return guard_of(context_->catalog, mode, context_->clustered).sql;
  }
  std::string guard_write_sql(model::lock_mode mode) const override {
    return guard_of(context_->catalog, mode, context_->clustered).write;
  }

 private:
  std::shared_ptr<const mysql_context> context_;
};

}  // namespace

guard_texts mysql_guard(const store_options& options, model::lock_mode mode, bool clustered) {
  return guard_of(sql_catalog{embedded::mysql_queries(), options.prefix}, mode, clustered);
}

std::unique_ptr<database> open_mysql(const std::string& url, const store_options& options) {
  return std::make_unique<mysql_database>(url, options);
}

std::unique_ptr<migration_session> open_mysql_for_migration(const std::string& url,
                                                            const store_options& options) {
  return std::make_unique<mysql_migration_session>(url, options);
}

}  // namespace rowlock::store
