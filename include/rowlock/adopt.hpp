// Holds that move from one process to another.
//
//   std::string text = held.transfer(10s);            // here the hold is over, but nobody else gets the lock
//   auto held = rowlock::adopt(db, text);             // there, within ten seconds: the same token
//
//   write_down(held.receipt());                       // when the work begins
//   auto held = rowlock::reclaim(db, read_back());    // after a crash and a restart, within the ttl
//
//                | the hold is as in the text | it was adopted, reclaimed or released, or its lease was killed
//   extend       | true, for another ttl      | false
//   release      | released                   | lost
//   adopt        | a hold with its token      | empty hold
//   reclaim      | a hold, a new token        | empty hold
#pragma once

#include <rowlock/client.hpp>
#include <rowlock/hold.hpp>

ROWLOCK_BEGIN_NAMESPACE

// Continues a hold that hold::transfer has offered: with its name, mode, weight, token and data, and a new id. This
// client renews it from now on. If several calls use the same text, also within one client, one of them gets the hold.
//
// Throws error: invalid_argument if the text is not transfer()'s or is incomplete, or for too many holds
// (options::margin); contention if a guarded transaction of this lock stays open for as long as a call may take;
// unreachable; closed; forked; read_only if options::read_only is set. Nothing has changed then, unless
// outcome_unknown(): then the hold may have been adopted, in which case it is released.
ROWLOCK_EXPORT hold adopt(client db, const std::string& text);

// Extends a hold that hold::transfer has offered: it lasts for the ttl given to transfer(), counted from now, and the
// text stays valid. For work that belongs to no process, such as a build. False: the hold is over, also if it has only
// expired, or was adopted.
//
// Throws as adopt(). The hold then lasts at least as long as before, and the call may be repeated.
[[nodiscard]] ROWLOCK_EXPORT bool extend(client db, const std::string& text);

// Releases a hold that hold::transfer has offered, without adopting it. The results are those of hold::release:
// `released` also if its ttl has passed, but nobody has killed its lease since, so nobody else had the lock. Waits at
// most options::close_timeout. The call may be repeated: the second result may be `lost`.
//
// Throws error: invalid_argument as adopt(); closed; forked; read_only if options::read_only is set.
ROWLOCK_EXPORT release_result release(client db, const std::string& text);

// Continues a hold of a process that has died, such as this program before its restart, while its lease lives. No
// waiter gets in between. text: from hold::receipt.
//
// The token is a new one, the data is empty, and a guarded transaction of the old process is refused. So a process that
// was wrongly taken for dead cannot damage guarded data. But it learns of its loss only with its next renewal: do not
// reclaim from a process that may be alive. On the same machine rowlock checks this: the call throws error(contention)
// if the old process still runs. If the old process is the one that calls, it throws only while the hold is still valid
// there. If another process has got the old one's pid, the machine's boot and the process's start time tell them apart,
// if /proc shows these. Throws everything else as adopt().
ROWLOCK_EXPORT hold reclaim(client db, const std::string& text);

ROWLOCK_END_NAMESPACE
