// Runs a call beside its test.
#pragma once

#include <functional>
#include <future>
#include <type_traits>
#include <utility>

namespace rowlock::test {

// std::async in a new thread. It is instantiated once for each type of result instead of once for each call, which took
// a third of the tests' compile time.
template <class Call>
auto in_background(Call call) {
  return std::async(std::launch::async, std::function<std::invoke_result_t<Call&>()>{std::move(call)});
}

}  // namespace rowlock::test
