#include "store/backends.hpp"
#include "store/mysql/mysql_migration_session.hpp"
#include "store/mysql/mysql_session.hpp"

namespace rowlock::store {

namespace {

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
    const bool shared = mode == model::lock_mode::shared;
    if (context_->clustered) return context_->catalog[shared ? "guard_read_shared" : "guard_read"];
    return context_->catalog[shared ? "guard_shared" : "guard"];
  }
  std::string guard_write_sql(model::lock_mode mode) const override {
    if (!context_->clustered) return {};
    return context_->catalog[mode == model::lock_mode::shared ? "guard_write_shared" : "guard_write"];
  }

 private:
  std::shared_ptr<const mysql_context> context_;
};

}  // namespace

std::unique_ptr<database> open_mysql(const std::string& url, const store_options& options) {
  return std::make_unique<mysql_database>(url, options);
}

std::unique_ptr<migration_session> open_mysql_for_migration(const std::string& url,
                                                            const store_options& options) {
  return std::make_unique<mysql_migration_session>(url, options);
}

}  // namespace rowlock::store
