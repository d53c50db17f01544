// What programs read. --json always prints one array of objects.
#pragma once

#include <rowlock/admin.hpp>

#include <nlohmann/json_fwd.hpp>

namespace rowlock::cli {

nlohmann::ordered_json to_json(const lock_info& lock);
nlohmann::ordered_json to_json(const waiter_info& waiter);

// Prints it with a line's end. Bytes that are no UTF-8 become U+FFFD, so that the output is always JSON.
void print_json(const nlohmann::ordered_json& value);

}  // namespace rowlock::cli
