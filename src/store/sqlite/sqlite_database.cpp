#include "store/backends.hpp"
#include "store/sqlite/sqlite_file.hpp"
#include "store/sqlite/sqlite_migration_session.hpp"
#include "store/sqlite/sqlite_session.hpp"

namespace rowlock::store {
namespace {

class sqlite_database final : public database {
 public:
  sqlite_database(std::string path, const store_options& options)
      : path_{std::move(path)},
        options_{options},
        catalog_{std::make_shared<const sql_catalog>(embedded::sqlite_queries(), options.prefix)} {}

  std::unique_ptr<session> connect(connect_watch&) override {
    return std::make_unique<sqlite_session>(path_, catalog_, options_);
  }
  std::string_view dialect() const noexcept override { return "sqlite"; }
  bool single_writer() const noexcept override { return true; }
  std::string guard_sql(model::lock_mode) const override { return (*catalog_)["guard"]; }

 private:
  std::string path_;
  store_options options_;
  std::shared_ptr<const sql_catalog> catalog_;  // shared with the sessions, which may live longer
};

}  // namespace

// One statement guards holds of both modes, because it looks for the hold in the lock's row and in the permits.
guard_texts sqlite_guard(const store_options& options, model::lock_mode, bool) {
  return {sql_catalog{embedded::sqlite_queries(), options.prefix}["guard"]};
}

std::unique_ptr<database> open_sqlite(const std::string& url_or_path, const store_options& options) {
  return std::make_unique<sqlite_database>(sqlite_file_path(url_or_path), options);
}

std::unique_ptr<migration_session> open_sqlite_for_migration(const std::string& url_or_path,
                                                             const store_options& options) {
  return std::make_unique<sqlite_migration_session>(sqlite_file_path(url_or_path), options);
}

}  // namespace rowlock::store
