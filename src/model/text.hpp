// Text in general: UTF-8, lower case, hex digits, and words that resemble another.
#pragma once

#include "model/for_stores.hpp"

#include <rowlock/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::model {

struct utf8_character {
  char32_t code = 0;
  std::size_t length = 0;  // in bytes; 0: no character starts here
};

// The character at the start of a text that must not be empty (RFC 3629: no overlong forms, no surrogates, nothing
// above U+10FFFF).
ROWLOCK_FOR_STORES utf8_character first_character(std::string_view text);

// Whether the code is a control character of ASCII, or one of the C1 controls.
ROWLOCK_FOR_STORES bool is_control(char32_t code);

// The value of a hex digit, 0 to 15. -1 if `digit` is no hex digit.
int hex_value(char digit);

// With ASCII letters in lower case.
ROWLOCK_FOR_STORES std::string lower(std::string_view text);

// Bytes in hex, which neither a quote nor a character set can change.
ROWLOCK_FOR_STORES void append_hex(std::string& text, std::string_view bytes);

// The candidate with the fewest missing, added, changed or swapped letters. Empty if more than a third of the letters,
// but at least two, differ in every candidate, or if the word has more than 64 letters. Capitals, dashes and underscores,
// which are often confused, do not count.
ROWLOCK_FOR_STORES std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// `; did you mean …?`, for the end of a message. Empty if nothing is near.
ROWLOCK_FOR_STORES std::string did_you_mean(std::string_view word,
                                            const std::vector<std::string>& candidates);

}  // namespace rowlock::model
