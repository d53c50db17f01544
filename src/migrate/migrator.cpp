#include <rowlock/error.hpp>
#include <rowlock/migrate.hpp>

#include "migrate/expectation.hpp"
#include "model/names.hpp"
#include "store/open.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

ROWLOCK_BEGIN_NAMESPACE

namespace {

store::store_options to_store_options(const options& settings) {
  store::store_options result;
  result.prefix = settings.prefix;
  result.schema = settings.schema;
  result.application = settings.application;
  result.statement_timeout = settings.statement_timeout;
  result.connect_timeout = settings.connect_timeout;
  return result;
}

store::ledger_entry entry_of(const migration& file) {
  return {.version = file.version, .title = file.title, .checksum = file.checksum, .applied_at = {}};
}

std::map<int, store::ledger_entry> by_version(const std::vector<store::ledger_entry>& entries) {
  std::map<int, store::ledger_entry> result;
  for (const auto& entry : entries) result.emplace(entry.version, entry);
  return result;
}

[[noreturn]] void refuse(const std::string& message) {
  throw error(errc::schema, message);
}

std::string checksum_differs(const store::ledger_entry& recorded, const migration& file) {
  return fmt::format(
      "migration {:04}_{} was applied from a file with checksum {:.12}..., but this version ships {:.12}...; "
      "use the rowlock version that applied it, or compare the two files by hand",
      file.version, file.title, recorded.checksum, file.checksum);
}

std::string forbids_this(const store::schema_state& now) {
  return fmt::format(
      "the schema needs a library that knows version {} (meta.min_library), and this one knows {}; "
      "install a newer rowlock",
      now.min_library, required_schema_version());
}

}  // namespace

struct migrator::state {
  std::unique_ptr<store::migration_session> session;
  std::string dialect;
  std::string prefix;
  std::vector<migration> shipped;

  int newest() const { return shipped.empty() ? 0 : shipped.back().version; }

  // Runs work under the migrators' lock; a dry run changes nothing, so it needs none and asks for no
  // privilege.
  void run(bool dry_run, const std::function<void()>& work) {
    if (dry_run) {
      work();
    } else {
      session->exclusively(work);
    }
  }

  // A ledger entry above meta's version is left from a migration that another tool has taken back: meta
  // decides.
  void check_recorded(const store::schema_state& now) {
    const auto ledger = by_version(session->ledger());
    for (const auto& file : shipped) {
      const auto found = ledger.find(file.version);
      if (found == ledger.end() || file.version > now.version) continue;
      if (found->second.checksum != file.checksum) refuse(checksum_differs(found->second, file));
    }
  }

  void apply(const migration& file) {
    if (by_version(session->ledger()).contains(file.version)) session->revert("SELECT 1;", file.version);
    session->apply(file.up, entry_of(file));
    expect_version(file, file.version);
  }

  void expect_version(const migration& file, int version) {
    const int found = session->state().version;
    if (found == version) return;
    throw error(errc::internal,
                fmt::format("migration {:04}_{} ran, but meta.schema_version is {} and not {}", file.version,
                            file.title, found, version));
  }
};

migrator::migrator(const std::string& url, const options& settings) : state_{std::make_unique<state>()} {
  model::check_identifier("prefix", settings.prefix);
  if (!settings.schema.empty()) model::check_identifier("schema", settings.schema);
  state_->dialect = store::dialect_of(url);
  state_->prefix = settings.prefix;
  state_->shipped = shipped_migrations(state_->dialect, settings.prefix);
  state_->session = store::open_for_migration(url, to_store_options(settings));
}

migrator::~migrator() = default;

std::vector<migration_status> migrator::status() {
  const auto now = state_->session->state();
  auto ledger = by_version(state_->session->ledger());
  std::vector<migration_status> result;
  for (const auto& file : state_->shipped) {
    migration_status line;
    line.version = file.version;
    line.title = file.title;
    line.applied = file.version <= now.version;
    if (const auto found = ledger.find(file.version); found != ledger.end()) {
      line.recorded = true;
      line.checksum_matches = found->second.checksum == file.checksum;
      line.applied_at = found->second.applied_at;
    }
    result.push_back(std::move(line));
  }
  const bool forbidden = now.min_library > required_schema_version();
  for (int version = state_->newest() + 1; version <= now.version; ++version) {
    const auto found = ledger.find(version);
    const bool recorded = found != ledger.end();
    result.push_back(
        {.version = version,
         .title = fmt::format("{} (newer than this rowlock{})", recorded ? found->second.title : "unknown",
                              forbidden ? ", which the schema forbids" : "; it may run beside it"),
         .applied = true,
         .recorded = recorded,
         .checksum_matches = true,
         .applied_at = recorded ? found->second.applied_at : ""});
  }
  return result;
}

std::vector<migration> migrator::up(std::optional<int> to, bool dry_run) {
  const int target = to.value_or(state_->newest());
  if (target < 1 || target > state_->newest()) {
    throw error(errc::invalid_argument,
                fmt::format("there is no migration {}; this version has 1 to {}", target, state_->newest()));
  }
  std::vector<migration> done;
  state_->run(dry_run, [&] {
    // Read inside: another migrator may have been at work until now.
    const auto now = state_->session->state();
    if (now.min_library > required_schema_version()) throw error(errc::too_new, forbids_this(now));
    state_->check_recorded(now);
    for (const auto& file : state_->shipped) {
      if (file.version <= now.version || file.version > target) continue;
      if (!dry_run) state_->apply(file);
      done.push_back(file);
    }
  });
  return done;
}

std::vector<migration> migrator::down(std::optional<int> to, bool destroy_tokens, bool dry_run) {
  if (to && *to < 0) throw error(errc::invalid_argument, fmt::format("there is no schema version {}", *to));
  std::vector<migration> done;
  state_->run(dry_run, [&] {
    auto& session = *state_->session;
    const auto now = session.state();
    const int target = to.value_or(now.version - 1);
    if (target >= now.version || now.version == 0) return;
    if (now.version > state_->newest()) {
      refuse(fmt::format(
          "the schema has version {} and this rowlock ships up to {}; the version that went up has the "
          "files to go down",
          now.version, state_->newest()));
    }
    if (target == 0 && !destroy_tokens) {
      throw error(errc::invalid_argument,
                  "version 0 drops every token: they would begin again, and old ones be taken for new. "
                  "Say so with --destroy-tokens (destroy_tokens in the library) if nothing remembers them");
    }
    if (const auto leases = session.leases(); leases > 0) {
      refuse(
          fmt::format("{} {} in use; stop their clients, or wait until they have expired, and go down then",
                      leases, leases == 1 ? "lease is" : "leases are"));
    }
    for (auto file = state_->shipped.rbegin(); file != state_->shipped.rend(); ++file) {
      if (file->version > now.version || file->version <= target) continue;
      if (!dry_run) {
        session.revert(file->down, file->version);
        state_->expect_version(*file, file->version - 1);
      }
      done.push_back(*file);
    }
  });
  return done;
}

std::vector<migration> migrator::adopt(bool dry_run) {
  std::vector<migration> done;
  state_->run(dry_run, [&] {
    const auto now = state_->session->state();
    if (now.version == 0)
      refuse("there is nothing to adopt: no migration was applied here; run: rowlock migrate up");
    const auto ledger = by_version(state_->session->ledger());
    for (const auto& file : state_->shipped) {
      if (file.version > now.version || ledger.contains(file.version)) continue;
      if (!dry_run) state_->session->record(entry_of(file));
      done.push_back(file);
    }
  });
  return done;
}

std::vector<std::string> migrator::verify() {
  const auto now = state_->session->state();
  if (now.version == 0) {
    return {fmt::format("the tables {}* are missing; run: rowlock migrate up", state_->prefix)};
  }
  std::vector<std::string> result;
  if (now.version < required_schema_version()) {
    result.push_back(
        fmt::format("the schema has version {}, and this library needs {}; run: rowlock migrate up",
                    now.version, required_schema_version()));
  }
  if (now.min_library > required_schema_version()) result.push_back(forbids_this(now));
  for (const auto& [version, entry] : by_version(state_->session->ledger())) {
    if (version > now.version) {
      result.push_back(fmt::format("the ledger records migration {:04}_{}, but meta.schema_version is {}",
                                   version, entry.title, now.version));
    }
    for (const auto& file : state_->shipped) {
      if (file.version == version && file.checksum != entry.checksum) {
        result.push_back(checksum_differs(entry, file));
      }
    }
  }
  // An older schema lacks what its missing migrations add; that is said above.
  if (now.version >= state_->newest()) {
    for (auto& line : migrate::differences(migrate::expected_schema(state_->dialect),
                                           state_->session->describe(), state_->prefix)) {
      result.push_back(std::move(line));
    }
  }
  return result;
}

ROWLOCK_END_NAMESPACE
