// Bytes in hex, which neither a quote nor a character set can change.
#pragma once

#include <string>
#include <string_view>

namespace rowlock::store {

inline void append_hex(std::string& text, std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 0xF];
  }
}

}  // namespace rowlock::store
