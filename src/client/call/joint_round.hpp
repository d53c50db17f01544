// One attempt of a joint acquire to get all of its locks that are not held yet: with one statement if they are free,
// otherwise with an edit.
#pragma once

#include "client/decision/decisions.hpp"
#include "client/engine.hpp"
#include "client/worker/edit_round.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rowlock::client_layer {

// A joint acquire makes it, a worker runs it once, and the joint acquire reads it when the worker's task is
// done.
struct joint_round {
  engine& on;
  std::shared_ptr<client_layer::lease> lease;  // null: the client has none yet, so nothing is sent
  std::vector<acquire_terms> wishes;           // in name order
  bool all = false;                            // grants all or none; otherwise all before the first not free
  bool looks = false;                          // only finds what an earlier round got whose answer was lost
  instant called_at{};                         // when the caller asked
  std::vector<ids_in_use::mark> in_use{};
  std::vector<edit_reply> replies{};
  bool all_were_free = false;     // granted without an edit, so there are no replies
  std::vector<hold_ptr> holds{};  // of the first wishes
  // One for each wish, made before the wish is sent: it withdraws the wish, or releases its hold. Null: it
  // was used, or the hold has it.
  mutable std::vector<release_ptr> endings{};
  std::uint64_t check_count = 0;  // see hold_registry::add

  // Runs in a worker's thread.
  void run(store::session& session);

  // lapsed: a hold was granted and is over already.
  enum class state { granted, busy, again, locked, lapsed };

  // Why requests were not granted. If the caller waits, only the first of them counts, because the caller
  // continues with that one. Throws error(mismatch).
  state what_is_missing() const;

  // Releases whatever the round has, because nobody waits for it any more, or its outcome is unknown.
  void withdraw() const noexcept;
  // The same for the wishes from `first` on, for which no hold was made.
  void withdraw_from(std::size_t first) const noexcept;

 private:
  void prepare();
  void ask(store::session& session);
  bool may_be_free() const;
  bool acquire_free(store::session& session);  // false: an edit must decide
  void find(store::session& session);
  void take(std::size_t i, model::token token, std::int64_t weight, bool contended);
};

}  // namespace rowlock::client_layer
