// The errors that several parts of a client throw, each written once.
#pragma once

#include "model/lock.hpp"

#include <rowlock/error.hpp>

#include <chrono>
#include <exception>
#include <string>

namespace rowlock::client_layer {

// One failure may end many waits. Each waiter is thrown an object of its own, which no other thread touches.
error copy_of(const error& failure);
error copy_of(const std::exception_ptr& failure);
// For the log: of what a user's function threw, which may be anything.
std::string thrown_text(const std::exception_ptr& thrown);

// Retrying may help: the database cannot be reached, a conflict, or a server that became read-only.
bool is_temporary(const error& failure);

error closed_client();
error closed_during_wait();
// The name is stored as another lock than the caller asked for (I11).
error mismatch(const model::lock_definition& asked, const model::lock_definition& stored);
// A call that does not wait for a holder still waits for the database, this long.
error no_answer(std::chrono::nanoseconds within);
// The members of a barrier that waited together are sent apart.
error broken(const std::string& name);
// The lock could be granted, but a transaction that is no holder's keeps its row locked.
error row_is_locked(const std::string& name, std::chrono::milliseconds since);

}  // namespace rowlock::client_layer
