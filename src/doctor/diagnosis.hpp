// Goes through a store's checks.
#pragma once

#include "store/check.hpp"

#include <rowlock/doctor.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::doctor {

// Puts the values of facts in place of {name}; the value of a fact that is not known is empty.
std::string filled(std::string_view text, const store::server_facts& facts);

// What the checks find in these facts, the worst first. A check whose facts are absent finds nothing; one whose
// facts are unknown is a finding of its own.
std::vector<finding> judge(std::span<const store::check> checks, const store::server_facts& facts);

}  // namespace rowlock::doctor
