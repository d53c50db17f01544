// How the public asynchronous calls begin their requests: with a callback, or from an awaitable.
#pragma once

#include "client/async_request.hpp"
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

// Request: a client_layer::async_request. arguments: what the request is made from, without the executor and
// the continuation. take: moves what the request got into the result, or throws. The request keeps no handle
// of the client, so the client closes when the caller's last handle ends.
template <class Request, class Result, class... Arguments>
void call_when_over(const client& db, executor where, std::function<void(Result)> done,
                    void (*take)(Request&, Result&), Arguments... arguments) {
  check_executor(where);
  if (!done) throw error(errc::invalid_argument, "the callback is empty; nothing would receive the result");
  const auto call = [done = std::move(done), take](Request& over) {
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
  std::make_shared<Request>(access::engine(db)->shared_from_this(), std::move(arguments)..., std::move(where),
                            call)
      ->start();
}

// The awaitable of such a request. It keeps a handle of the client.
template <class Awaited, class Request, class... Arguments>
Awaited awaiting(client db, executor where, Arguments... arguments) {
  return access::make<Awaited>([db = std::move(db), where = std::move(where),
                                ... arguments = std::move(arguments)](std::function<void()> resume) {
    check_executor(where);
    return std::make_shared<Request>(access::engine(db)->shared_from_this(), arguments..., where,
                                     [resume = std::move(resume)](Request&) { resume(); });
  });
}

}  // namespace rowlock::primitives
