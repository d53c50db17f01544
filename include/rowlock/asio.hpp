// An executor for async.hpp, async_all.hpp, async_barrier.hpp and candidate.hpp that posts to Asio: standalone, or
// Boost's. This header includes nothing of Asio; include it yourself, in any order.
//
//   boost::asio::io_context loop;
//   rowlock::acquire_async(rowlock::asio_executor(loop.get_executor()), nightly, [](rowlock::acquired got) { … });
//
// In a coroutine of Asio, co_await rowlock's awaitables only through a callback: boost::asio::awaitable refuses
// awaitables of other libraries.
#pragma once

#include <rowlock/task.hpp>

#include <utility>

ROWLOCK_BEGIN_NAMESPACE

// on: an executor of Asio, such as an io_context's, a thread_pool's or a strand. The context must outlive the waits and
// the client. A task that the context destroys without running it counts as dropped: what was granted is released.
template <class Executor>
executor asio_executor(Executor on) {
  return [on = std::move(on)](task next) { post(on, std::move(next)); };
}

ROWLOCK_END_NAMESPACE
