#pragma once

#include <rowlock/error.hpp>

#include <exception>

namespace rowlock::serve {

// What is no error of rowlock's, such as a lack of memory, is an internal one.
inline error as_error(const std::exception& problem) {
  const auto* known = dynamic_cast<const error*>(&problem);
  return known != nullptr ? *known : error(errc::internal, problem.what());
}

}  // namespace rowlock::serve
