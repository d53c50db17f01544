// What a store does beside a transaction that a rule of its statements is about. The steps are the same on every
// server; the server's tests bring the transaction. The lock is "a".
#pragma once

#include "store/session_steps.hpp"

#include <functional>

namespace rowlock::test {

// The transaction, which `commit` ends, has granted the lock to `next`: acquires and edits leave it alone.
void expect_left_to_its_holder(store::session& session, const claim& next,
                               const std::function<void()>& commit);

// `enqueue` begins a transaction that puts a waiter into the queue, and `commit` ends it: no release of the
// lock's holder overlooks the waiter.
void expect_waiter_is_seen(store::session& session, const std::function<void(hold_id waiter)>& enqueue,
                           const std::function<void()>& commit);

}  // namespace rowlock::test
