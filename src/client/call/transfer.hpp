// Moves holds from one process to another: a live holder offers its hold and another process adopts it, or
// the successor of a dead holder reclaims it.
#pragma once

#include "client/call/transfer_note.hpp"
#include "client/engine.hpp"

#include <chrono>
#include <string>

namespace rowlock::client_layer {

// As hold::receipt.
std::string receipt(const hold_ptr& hold);
// Whether the hold of a receipt is valid in this process.
bool is_held_here(const transfer_note& note);

// As hold::transfer.
std::string transfer(const hold_ptr& hold, std::chrono::milliseconds ttl);
// As rowlock::adopt and rowlock::reclaim. Null: the database does not have the hold as the note says.
hold_ptr adopt(engine& on, const transfer_note& note);
hold_ptr reclaim(engine& on, const transfer_note& note);
// As rowlock::extend.
bool extend(engine& on, const transfer_note& note);

}  // namespace rowlock::client_layer
