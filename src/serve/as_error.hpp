#pragma once

#include <rowlock/error.hpp>

#include <exception>

namespace rowlock::serve {

// Returns the exception as rowlock's error. Any other exception, such as std::bad_alloc, becomes error(internal).
inline error as_error(const std::exception& problem) {
  const auto* known = dynamic_cast<const error*>(&problem);
  return known != nullptr ? *known : error(errc::internal, problem.what());
}

}  // namespace rowlock::serve
