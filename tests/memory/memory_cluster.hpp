// What a node of a cluster knows, and what the cluster lets it commit, as Galera does.
#pragma once

#include "memory/memory_tables.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace rowlock::store {

class memory_node {
 public:
  // Everything that was committed when a verb was sent, on whatever node. Null: its node had applied that.
  struct moment {
    std::uint64_t commits = 0;
    std::shared_ptr<const memory_tables> tables{};
  };

  bool is_behind() const noexcept { return applied_.has_value(); }
  void fall_behind(const memory_tables& latest, std::uint64_t commits);
  void catch_up() noexcept { applied_.reset(); }
  // Requires, like all that follow: it is behind.
  const memory_tables& tables() const { return *applied_; }
  void apply(const moment& sent);
  // A transaction of its own was the last of so many commits, and it has applied those before it.
  void commit(const memory_tables& latest, std::uint64_t commits);

 private:
  std::optional<memory_tables> applied_;
  std::uint64_t commits_ = 0;
};

// Applies to the latest tables what a transaction wrote that has made `made` out of `seen`. False, and nothing is
// applied: others have changed one of the same rows since. Rows that it has only read may have changed. A lock's
// permits and queue count as one row with it. A row that was made and deleted since has changed, too.
bool certify(const memory_tables& seen, const memory_tables& made, memory_tables& latest);

}  // namespace rowlock::store
