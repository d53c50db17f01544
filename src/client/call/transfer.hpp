// Moves holds from one process to another: a live holder offers its hold and another process adopts it, or
// the successor of a dead holder reclaims it.
#pragma once

#include "client/call/transfer_note.hpp"
#include "client/engine.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace rowlock::client_layer {

// Makes the data of a hold from the text of its transfer.
using data_of_text = std::function<std::string(const std::string& text)>;

// As hold::receipt.
std::string receipt(const hold_ptr& hold);
// Whether the hold of a receipt is valid in this process.
bool is_held_here(const transfer_note& note);

// As hold::transfer. data: null if the hold keeps what it has.
std::string transfer(const hold_ptr& hold, std::chrono::milliseconds ttl, const data_of_text& data);
// As rowlock::adopt and rowlock::reclaim. Null: the database does not have the hold as the note says.
hold_ptr adopt(engine& on, const transfer_note& note);
hold_ptr reclaim(engine& on, const transfer_note& note);
// As rowlock::extend.
bool extend(engine& on, const transfer_note& note);
// As rowlock::release.
release_result release(engine& on, const transfer_note& note);

}  // namespace rowlock::client_layer
