// The lines of a lock's history that a change makes.
#pragma once

#include "client/base/client_environment.hpp"
#include "store/store.hpp"

#include <string>
#include <vector>

namespace rowlock::client_layer {

enum class intent {
  use,
  force,    // an operator takes the lock from its holders
  reclaim,  // a process continues the hold of one that has died
};

// before: what the change was decided from. by: who decides, for the events that a holder does not cause
// itself. A latch and a barrier have no history, because nobody holds them.
std::vector<store::history_entry> history_lines(const store::lock_view& before,
                                                const store::lock_change& change, intent why,
                                                const std::string& by);

// Adds the lines of the history to the change, if the name is recorded.
void record(client_environment& environment, const std::string& name, const store::lock_view& before,
            store::lock_change& change, intent why = intent::use);

// Reads which names are recorded, if the version differs from the one in use. If this client's database role
// may not write the history, nothing is recorded, and the log says so. After a temporary failure the next
// call reads again.
void update_recorded(client_environment& environment, store::session& session, std::int64_t version);

// Deletes old lines of the names whose history this client has written since the last call, a bounded number
// of lines at a time.
void prune_written(client_environment& environment, store::session& session);

}  // namespace rowlock::client_layer
