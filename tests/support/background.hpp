// A call that runs beside its test.
#pragma once

#include <functional>
#include <future>
#include <type_traits>
#include <utility>

namespace rowlock::test {

// std::async in a thread of its own. It is instantiated once for each type of result, not once for each call: that took a
// third of the time in which the tests compile.
template <class Call>
auto in_background(Call call) {
  return std::async(std::launch::async, std::function<std::invoke_result_t<Call&>()>{std::move(call)});
}

}  // namespace rowlock::test
