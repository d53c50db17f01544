#include "migrate/expectation.hpp"
#include "migrate/runner.hpp"
#include "model/names.hpp"
#include "store/open.hpp"

#include <rowlock/migrate.hpp>

ROWLOCK_BEGIN_NAMESPACE

struct migrator::state {
  std::unique_ptr<store::migration_session> session;
  migrate::runner runner;
};

migrator::migrator(const std::string& url, const options& settings) {
  model::check_identifier("prefix", settings.prefix);
  const auto dialect = store::dialect_of(url);
  auto session = store::open_for_migration(url, store::to_store_options(settings));
  auto& in_use = *session;
  state_ = std::make_unique<state>(
      state{std::move(session), migrate::runner{in_use, shipped_migrations(dialect, settings.prefix),
                                                migrate::expected_schema(dialect), settings.prefix}});
}

migrator::migrator(migrator&& other) noexcept = default;
migrator& migrator::operator=(migrator&& other) noexcept = default;
migrator::~migrator() = default;

std::vector<migration_status> migrator::status() {
  return state_->runner.status();
}

std::vector<migration> migrator::up(std::optional<int> to, bool dry_run) {
  return state_->runner.up(to, dry_run);
}

std::vector<migration> migrator::down(std::optional<int> to, bool destroy_tokens, bool dry_run) {
  return state_->runner.down(to, destroy_tokens, dry_run);
}

std::vector<migration> migrator::adopt(bool dry_run) {
  return state_->runner.adopt(dry_run);
}

std::vector<std::string> migrator::verify() {
  return state_->runner.verify();
}

ROWLOCK_END_NAMESPACE
