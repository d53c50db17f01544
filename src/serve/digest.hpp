#pragma once

#include <string>
#include <string_view>

namespace rowlock::serve {

// The SHA-256 of the text, in hexadecimal. Throws error(internal) if libcrypto fails.
std::string digest_of(std::string_view text);

}  // namespace rowlock::serve
