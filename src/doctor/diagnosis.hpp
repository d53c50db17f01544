// Evaluates a store's checks.
#pragma once

#include "store/check.hpp"

#include <rowlock/doctor.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::doctor {

// Replaces each {name} by the value of that fact; by nothing if the value is not known.
std::string filled(std::string_view text, const store::server_facts& facts);

// What the checks find in these facts, the worst first. If a fact that a check reads is unknown, the finding
// says so. A comparison with an absent fact does not hold.
std::vector<finding> judge(std::span<const store::check> checks, const store::server_facts& facts);

}  // namespace rowlock::doctor
