// The words with which SOCI connects to MariaDB or MySQL.
#pragma once

#include <string>

namespace rowlock::bench {

// The parts of mysql://user:password@host:port/database under SOCI's names. A bench's URL needs no more, and
// rowlock::connect has already checked the URL.
std::string soci_words(const std::string& url);

}  // namespace rowlock::bench
