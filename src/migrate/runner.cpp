#include "migrate/runner.hpp"

#include "migrate/expectation.hpp"
#include "store/schema_version.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

namespace rowlock::migrate {

namespace {

using namespace std::chrono_literals;

// The pauses together last 4 s. No file rewrites the rows of a table, so another migrator completes a file in less.
constexpr int tries_at_most = 13;
constexpr std::chrono::milliseconds first_pause = 10ms;
constexpr std::chrono::milliseconds longest_pause = 500ms;

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

std::string forbids_this(const store::schema_state& now, int newest) {
  return fmt::format(
      "the schema needs a library that knows version {} (meta.min_library), and this one knows {}; "
      "install a newer rowlock",
      now.min_library, newest);
}

}  // namespace

runner::runner(store::migration_session& session, std::vector<migration> files,
               std::vector<std::string> expected, std::string prefix)
    : session_{session},
      files_{std::move(files)},
      expected_{std::move(expected)},
      prefix_{std::move(prefix)} {}

int runner::newest() const {
  return files_.empty() ? 0 : files_.back().version;
}

// A dry run changes nothing, so it needs no lock and no privilege.
void runner::guard(bool dry_run, const std::function<void()>& work) {
  if (dry_run) {
    work();
  } else {
    session_.exclusively(work);
  }
}

// Another tool may have reverted a migration and left its ledger entry, above meta's version: meta decides.
void runner::check_recorded(const store::schema_state& now) {
  const auto ledger = by_version(session_.ledger());
  for (const auto& file : files_) {
    const auto found = ledger.find(file.version);
    if (found == ledger.end() || file.version > now.version) continue;
    if (found->second.checksum != file.checksum) refuse(checksum_differs(found->second, file));
  }
}

// Where each statement commits, an interrupted reversal leaves some of its changes. A down file therefore records its
// version first, so that up() runs the same migration again. The first one cannot do so, because it drops meta, and
// leaves version 1 without some of its tables.
std::vector<migration> runner::missing(const store::schema_state& now, int target) {
  std::vector<migration> files;
  for (const auto& file : files_) {
    if (file.version > target) break;
    const bool is_half_reverted = now.version == 1 && file.version == 1 && session_.commits_by_statement() &&
                                  lacks_table(file.up, session_.describe(), prefix_);
    if (file.version > now.version || is_half_reverted) files.push_back(file);
  }
  return files;
}

void runner::check_tables(const std::vector<migration>& files, std::string_view doing) {
  if (files.empty()) return;
  const auto found = session_.describe();
  for (const auto& file : files) {
    const auto foreign = find_foreign_table(file.up, expected_, found, prefix_);
    if (!foreign) continue;
    refuse(fmt::format(
        "migration {:04}_{} would {} the table {}, which is not rowlock's, because it has no column \"{}\"; "
        "rename that table, or choose another prefix",
        file.version, file.title, doing, foreign->name, foreign->missing));
  }
}

// The nodes of a Galera cluster do not share the lock of exclusively(), so a migrator on another node may be applying
// the same files. This rival may be ahead of this migrator, may make one of its statements fail, may fail and remove
// the ledger's entry, or may be behind and write its lower version again. A file may be run as often as needed. So if a
// file fails as it does when there is a rival, it is run again, after growing pauses in which the rival may complete
// the file.
void runner::apply(const migration& file) {
  auto pause = first_pause;
  bool has_run = false;
  for (int tries = 1;; ++tries) {
    try {
      apply_once(file);
      has_run = true;
      const bool was_lowered = session_.commits_by_statement() && session_.state().version < file.version;
      if (!was_lowered || tries == tries_at_most) return expect_version(file, file.version, newest());
    } catch (const error& problem) {
      const bool again = tries < tries_at_most && session_.may_be_a_rivals_doing(problem);
      // If the file has run before without writing its version, and no rival explains that, the file is at fault.
      if (!again && has_run) expect_version(file, file.version, newest());
      if (!again) throw;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

void runner::apply_once(const migration& file) {
  const auto entry = entry_of(file);
  if (session_.state().version < file.version) {
    if (by_version(session_.ledger()).contains(file.version)) session_.revert("SELECT 1;", file.version);
    try {
      session_.apply(file.up, entry);
    } catch (const error& problem) {
      if (!session_.commits_by_statement() || problem.code() == errc::unreachable) throw;
      if (session_.state().version < file.version) throw;
    }
  }
  if (!by_version(session_.ledger()).contains(file.version)) session_.record(entry);
}

void runner::expect_version(const migration& file, int lowest, int highest) {
  const int found = session_.state().version;
  if (found >= lowest && found <= highest) return;
  throw error(errc::internal, fmt::format("migration {:04}_{} ran, but meta.schema_version is {} and not {}",
                                          file.version, file.title, found, lowest));
}

std::vector<migration_status> runner::status() {
  const auto now = session_.state();
  auto ledger = by_version(session_.ledger());
  std::vector<migration_status> result;
  for (const auto& file : files_) {
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
  const bool forbidden = now.min_library > newest();
  for (int version = newest() + 1; version <= now.version; ++version) {
    const auto found = ledger.find(version);
    const bool recorded = found != ledger.end();
    result.push_back(
        {.version = version,
         .title = fmt::format("{} (newer than this rowlock{})", recorded ? found->second.title : "unknown",
                              forbidden ? ", which the schema forbids" : "; the two work together"),
         .applied = true,
         .recorded = recorded,
         .checksum_matches = true,
         .applied_at = recorded ? found->second.applied_at : ""});
  }
  return result;
}

std::vector<migration> runner::up(std::optional<int> to, bool dry_run) {
  const int target = to.value_or(newest());
  if (target < 1 || target > newest()) {
    throw error(errc::invalid_argument,
                fmt::format("there is no migration {}; this version has 1 to {}", target, newest()));
  }
  std::vector<migration> done;
  guard(dry_run, [&] {
    done.clear();
    // Read under the lock, because another migrator may have run until now.
    const auto now = session_.state();
    if (now.min_library > newest()) throw error(errc::too_new, forbids_this(now, newest()));
    check_recorded(now);
    const auto files = missing(now, target);
    if (!files.empty()) session_.check_place();
    check_tables(files, "take over");
    for (const auto& file : files) {
      if (!dry_run) {
        const bool is_again = file.version <= now.version;
        if (!is_again && file.version <= session_.state().version) continue;  // see apply()
        is_again ? session_.apply(file.up, entry_of(file)) : apply(file);
      }
      done.push_back(file);
    }
  });
  return done;
}

std::vector<migration> runner::down(std::optional<int> to, bool destroy_tokens, bool dry_run) {
  if (to && *to < 0) throw error(errc::invalid_argument, fmt::format("there is no schema version {}", *to));
  std::vector<migration> done;
  guard(dry_run, [&] {
    done.clear();
    const auto now = session_.state();
    if (now.version == 0) return;
    // On MySQL a down file records its version first, and each of its statements commits. If it was interrupted, its
    // ledger entry is still there, and the file is run again.
    const bool unfinished = session_.commits_by_statement() && now.version < newest() &&
                            by_version(session_.ledger()).contains(now.version + 1);
    const int from = unfinished ? now.version + 1 : now.version;
    const int target = to.value_or(from - 1);
    if (target >= from) return;
    if (now.version > newest()) {
      refuse(
          fmt::format("the schema has version {} and this rowlock ships up to {}; use the version that went "
                      "up, which has the files to go down",
                      now.version, newest()));
    }
    if (target == 0 && !destroy_tokens) {
      throw error(
          errc::invalid_argument,
          "version 0 drops every token: tokens would start again, and an old one could be mistaken for a new "
          "one. If nothing has stored any, pass --destroy-tokens (destroy_tokens in the library)");
    }
    if (const auto leases = session_.leases(); leases > 0) {
      refuse(
          fmt::format("{} {} in use; stop their clients, or wait until they have expired, and run it again",
                      leases, leases == 1 ? "lease is" : "leases are"));
    }
    std::vector<migration> files;
    for (const auto& file : files_) {
      if (file.version <= from && file.version > target) files.insert(files.begin(), file);
    }
    check_tables(files, "drop");
    for (const auto& file : files) {
      if (!dry_run) {
        session_.revert(file.down, file.version);
        expect_version(file, file.version - 1, file.version - 1);
      }
      done.push_back(file);
    }
  });
  return done;
}

std::vector<migration> runner::adopt(bool dry_run) {
  std::vector<migration> done;
  guard(dry_run, [&] {
    done.clear();
    const auto now = session_.state();
    if (now.version == 0) {
      refuse("there is nothing to adopt: no migration was applied here; run: rowlock migrate up");
    }
    const auto ledger = by_version(session_.ledger());
    for (const auto& file : files_) {
      if (file.version > now.version || ledger.contains(file.version)) continue;
      if (!dry_run) {
        session_.check_place();  // the ledger may have to be made
        session_.record(entry_of(file));
      }
      done.push_back(file);
    }
  });
  return done;
}

std::vector<std::string> runner::verify() {
  const auto now = session_.state();
  if (now.version == 0) {
    return {fmt::format("the tables {}* are missing; run: {}", prefix_,
                        store::migrate_command({.prefix = prefix_}))};
  }
  std::vector<std::string> result;
  if (now.version < newest()) {
    result.push_back(fmt::format("the schema has version {}, and this library needs {}; run: {}", now.version,
                                 newest(), store::migrate_command({.prefix = prefix_})));
  }
  if (now.min_library > newest()) result.push_back(forbids_this(now, newest()));
  for (const auto& [version, entry] : by_version(session_.ledger())) {
    if (version > now.version) {
      result.push_back(fmt::format("the ledger records migration {:04}_{}, but meta.schema_version is {}",
                                   version, entry.title, now.version));
    }
    for (const auto& file : files_) {
      if (file.version == version && file.checksum != entry.checksum) {
        result.push_back(checksum_differs(entry, file));
      }
    }
  }
  // An older schema lacks what the missing migrations add, which an earlier line already reports.
  if (now.version >= newest()) {
    for (auto& line : differences(expected_, session_.describe(), prefix_)) result.push_back(std::move(line));
  }
  return result;
}

}  // namespace rowlock::migrate
