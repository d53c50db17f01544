// How the public asynchronous functions begin their calls: with a callback, or from an awaitable.
#pragma once

#include "client/call/async_call.hpp"
#include "primitives/access.hpp"

#include <rowlock/async.hpp>

#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace rowlock::primitives {

inline void check_executor(const executor& where) {
  if (!where) throw error(errc::invalid_argument, "the executor is empty; nothing could deliver the result");
}

// Call: the kind of the call. arguments: those of its constructor. take: moves what the call got into the result, or
// throws. The call keeps no handle of the client, so the client closes when the caller's last handle ends.
template <class Call, class Result, class... Arguments>
void call_when_over(const client& db, executor where, std::function<void(Result)> done,
                    void (*take)(client_layer::async_call<Call>&, Result&), Arguments&&... arguments) {
  check_executor(where);
  if (!done) throw error(errc::invalid_argument, "the callback is empty; nothing would receive the result");
  const auto then = [done = std::move(done), take](client_layer::async_call<Call>& over) {
    Result result;
    try {
      take(over, result);
    } catch (const error& failure) {
      result.failure.emplace(failure);
    } catch (const std::bad_alloc&) {
      result.failure.emplace(errc::unreachable, "there was no memory for the request");
    }
    done(std::move(result));
  };
  std::make_shared<client_layer::async_call<Call>>(access::engine(db)->shared_from_this(), std::move(where),
                                                   then, std::forward<Arguments>(arguments)...)
      ->start();
}

// The awaitable of such a call. The awaitable keeps a handle of the client.
template <class Awaited, class Call, class... Arguments>
Awaited awaiting(client db, executor where, Arguments... arguments) {
  return access::make<Awaited>([db = std::move(db), where = std::move(where),
                                ... arguments = std::move(arguments)](std::function<void()> resume) {
    check_executor(where);
    return std::make_shared<client_layer::async_call<Call>>(
        access::engine(db)->shared_from_this(), where,
        [resume = std::move(resume)](client_layer::async_call<Call>&) { resume(); }, arguments...);
  });
}

}  // namespace rowlock::primitives
