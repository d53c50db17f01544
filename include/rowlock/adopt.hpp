// Holds that go from one process to another.
//
//   std::string text = held.hand_over(10s);                 // here it is over; nobody else can have the lock
//   auto held = rowlock::adopt(db, text);                   // there, within ten seconds: the same token
//
//   write_down(held.receipt());                             // beside the work, when it begins
//   auto held = rowlock::reclaim(db, read_back());          // after a crash and a restart, within the ttl
//
//                | it stands as the text says | it was adopted, reclaimed or released, or its lease died
//   adopt        | held, with its token       | empty
//   reclaim      | held, with a token above   | empty
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

#include <optional>
#include <string>

ROWLOCK_BEGIN_NAMESPACE

// Takes on a hold that hold::hand_over has let go: with its name, mode, weight and token, and an id of its
// own; renewed by this client from now on. Of several calls with one text, one gets it, also within one
// client. Empty: it does not stand any more.
//
// Throws error: invalid_argument when the text is not hand_over's, or not the whole of it; contention when a
// guarded transaction of this lock lasts longer than options::statement_timeout; unreachable. Nothing has
// changed then, unless outcome_unknown() is true: then it may have been taken on and is given back, so the
// lock goes to whoever waits.
ROWLOCK_EXPORT std::optional<hold> adopt(client db, const std::string& text);

// Takes on a hold of a process that has died, such as this program before its restart, while its lease lives;
// nobody who waits comes in between. The token is a new one, and a guarded transaction of the dead process's
// is refused, so that a process that was taken for dead does no harm to the data; but it hears of its loss
// only with its next renewal: do not reclaim from a process that may live. One on this machine is looked up,
// and error(contention) thrown while it has not ended; so it is for a hold that stands in this process. Else
// as adopt(); a text of hold::receipt is expected.
ROWLOCK_EXPORT std::optional<hold> reclaim(client db, const std::string& text);

ROWLOCK_END_NAMESPACE
