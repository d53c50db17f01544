// What the fixtures of SQL stores share: migrations applied as any tool would apply them.
#pragma once

#include "store/embedded.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::test {

// Runs each up file with the prefix inserted, and an invented next migration if the environment asks for it.
void migrate(std::span<const embedded::file> files, std::string_view prefix,
             const std::function<void(const std::string& sql)>& run);

}  // namespace rowlock::test
