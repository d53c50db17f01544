// The errors that several parts of a client throw.
#pragma once

#include "model/lock.hpp"

#include <rowlock/error.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <string>

namespace rowlock::client_layer {

// One failure may end many waits. Each waiter is thrown its own copy, which no other thread touches.
// in_doubt: the outcome of the copy is unknown even if that of the failure is not.
error copy_of(const error& failure, bool in_doubt = false);
error copy_of(const std::exception_ptr& failure);  // throws std::bad_alloc if it is one
// What make() returns, as an exception; std::bad_alloc if there is no memory for it.
template <class Make>
std::exception_ptr made_failure(Make make) noexcept {
  try {
    return std::make_exception_ptr(make());
  } catch (...) {
    return std::make_exception_ptr(std::bad_alloc{});
  }
}

// What a user's function threw, which may be anything, as text for the log. Valid as long as the exception is kept.
const char* thrown_text(const std::exception_ptr& thrown) noexcept;

// True if retrying may help: the database is unreachable, there was a conflict, or the server became read-only.
bool is_temporary(const error& failure);

error closed_client();
error closed_during_wait();
// The stored lock of that name differs from the one that the caller asked for (I11).
error mismatch(const model::lock_definition& asked, const model::lock_definition& stored);
// The call needs the hold of that lock, and it was released or lost.
error hold_is_over(const std::string& name);
// The database did not answer for as long as a call may take.
error no_answer(std::chrono::nanoseconds within);
// Another member of the barrier's generation has died or given up.
error broken(const std::string& name);
// The lock could be granted, but a transaction that does not belong to a holder keeps its row locked.
error row_is_locked(const std::string& name, std::chrono::milliseconds since);

}  // namespace rowlock::client_layer
