// The migrator's decisions, for any set of files: tests pass their own.
#pragma once

#include "store/migration_session.hpp"

#include <rowlock/migrate.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::migrate {

// The public members do the same as those of rowlock::migrator; the library's newest version is that of the newest
// file.
class runner {
 public:
  // expected: the lines that describe() must return after all files. The session must outlive the runner.
  runner(store::migration_session& session, std::vector<migration> files, std::vector<std::string> expected,
         std::string prefix);

  std::vector<migration_status> status();
  std::vector<migration> up(std::optional<int> to, bool dry_run);
  std::vector<migration> down(std::optional<int> to, bool destroy_tokens, bool dry_run);
  std::vector<migration> adopt(bool dry_run);
  std::vector<std::string> verify();

 private:
  int newest() const;
  void guard(bool dry_run, const std::function<void()>& work);
  void check_recorded(const store::schema_state& now);
  // The files that up() runs, in their order.
  std::vector<migration> missing(const store::schema_state& now, int target);
  // Throws error(schema) if a table of one of the files is another application's. doing: what would happen to that.
  void check_tables(const std::vector<migration>& files, std::string_view doing);
  void apply(const migration& file);
  void apply_once(const migration& file);
  void expect_version(const migration& file, int lowest, int highest);

  store::migration_session& session_;
  std::vector<migration> files_;
  std::vector<std::string> expected_;
  std::string prefix_;
};

}  // namespace rowlock::migrate
