// What a node of a cluster knows, and what the cluster lets the node commit, as with Galera.
#pragma once

#include "memory/memory_tables.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace rowlock::store {

class memory_node {
 public:
  // Everything that was committed at any node when a verb was sent. Null: the verb's node had applied all of it.
  struct moment {
    std::uint64_t commits = 0;
    std::shared_ptr<const memory_tables> tables{};
  };

  bool is_behind() const noexcept { return applied_.has_value(); }
  void fall_behind(const memory_tables& latest, std::uint64_t commits);
  void catch_up() noexcept { applied_.reset(); }
  // Requires, like the members below: the node is behind.
  const memory_tables& tables() const { return *applied_; }
  void apply(const moment& sent);
  // A transaction of this node was the last of `commits` commits, and the node has applied those before it.
  void commit(const memory_tables& latest, std::uint64_t commits);

 private:
  std::optional<memory_tables> applied_;
  std::uint64_t commits_ = 0;
};

// A transaction has made `made` out of `seen`: applies what it wrote to the latest tables. False, and nothing is
// applied: others have changed one of the same rows since. Rows that the transaction has only read may have changed. A
// lock's permits and queue count as one row with it. A row that was made and deleted since has changed, too.
bool certify(const memory_tables& seen, const memory_tables& made, memory_tables& latest);

}  // namespace rowlock::store
