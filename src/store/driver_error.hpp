// An error that no database has reported.
#pragma once

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string_view>

namespace rowlock::store {

// The driver or our own code has failed in the middle of an answer. What the database did is unknown, and the
// connection may be out of step with it, so the connection must not be used again. If memory was short, the
// error is that of a broken connection, because another connection can do the work.
inline error driver_error(const std::exception& cause, std::string_view doing) {
  if (dynamic_cast<const std::bad_alloc*>(&cause) != nullptr) {
    return {errc::unreachable,
            fmt::format("{}: there was no memory, so the connection is given up", doing),
            {},
            true};
  }
  return {errc::internal, fmt::format("{}: {}", doing, cause.what()), {}, true};
}

}  // namespace rowlock::store
