// All headers except the guards, asio.hpp and prometheus.hpp. Read them in this order: mutex, hold, ids, options, client,
// error, shared_mutex, counting_semaphore, acquire_all, task, async, async_all, recursive_mutex, recursive_shared_mutex,
// latch, barrier, async_barrier, election, candidate, quorum_mutex, adopt, lock_info, admin, migrate, grants, doctor.
#pragma once

#include <rowlock/acquire_all.hpp>
#include <rowlock/admin.hpp>
#include <rowlock/adopt.hpp>
#include <rowlock/async.hpp>
#include <rowlock/async_all.hpp>
#include <rowlock/async_barrier.hpp>
#include <rowlock/barrier.hpp>
#include <rowlock/candidate.hpp>
#include <rowlock/client.hpp>
#include <rowlock/config.hpp>
#include <rowlock/counting_semaphore.hpp>
#include <rowlock/doctor.hpp>
#include <rowlock/election.hpp>
#include <rowlock/error.hpp>
#include <rowlock/grants.hpp>
#include <rowlock/hold.hpp>
#include <rowlock/ids.hpp>
#include <rowlock/latch.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/migrate.hpp>
#include <rowlock/mutex.hpp>
#include <rowlock/options.hpp>
#include <rowlock/participant.hpp>
#include <rowlock/quorum_mutex.hpp>
#include <rowlock/recursive_mutex.hpp>
#include <rowlock/recursive_shared_mutex.hpp>
#include <rowlock/shared_mutex.hpp>
#include <rowlock/task.hpp>
#include <rowlock/time_limit.hpp>
