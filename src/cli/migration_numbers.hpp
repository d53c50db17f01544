// Chooses a migration's version in another tool's folder: `rowlock migrate sql --out`.
#pragma once

#include <rowlock/migrate.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// A file of a migration, without the version in its name: head + version + rest.
struct unnumbered_file {
  std::string head;  // Flyway's V and U; otherwise empty
  std::string rest;  // _rowlock_locks.up.sql
  std::string text;
  bool up = true;
};

struct numbering {
  std::optional<std::uint64_t> start;  // the first version of the new files; default: the folder decides
  bool timestamps = false;             // YYYYMMDDhhmmss, when rowlock's developers made the migration
  int digits = 4;                      // of the first version in a folder without any
};

// An existing file. Its name is 0007_locks.up.sql, V7__locks.sql or V1.2__locks.sql (of version 1).
struct numbered_file {
  std::string name;
  std::string version;  // 0007
  std::string text;
  std::uint64_t number = 0;
};

// The files of a folder whose names begin with a version.
class numbered_folder {
 public:
  // heads: one of these letters precedes each version; empty: none does. Subfolders are not read. A folder that does
  // not exist counts as empty.
  numbered_folder(const std::string& path, std::string_view heads);

  // The file that has this migration: its own name with any version, or another name with the same text. Throws
  // error(invalid_argument) if there are two.
  const numbered_file* find(const unnumbered_file& wanted) const;
  // The file with the highest version.
  const numbered_file* newest() const;

 private:
  std::vector<numbered_file> files_;
};

// Assigns versions, each higher than all before it and than those of the folder.
class version_sequence {
 public:
  version_sequence(const numbered_folder& folder, const numbering& how);

  // The version of this migration of rowlock's.
  std::string next(const migration& one);

 private:
  numbering how_;
  std::size_t digits_;
  std::uint64_t last_ = 0;  // 0: none so far
};

}  // namespace rowlock::cli
