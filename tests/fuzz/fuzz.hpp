// One function for each parser: it takes any bytes and checks a property of the parser's result. libFuzzer calls it
// (scripts/fuzz), and replay_test.cpp calls it with the bytes of tests/fuzz/corpus.
#pragma once

#include <rowlock/error.hpp>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::fuzz {

using function = void(std::string_view bytes);

// The functions by name, for the replay. Empty in a program for libFuzzer, which has one function.
std::map<std::string, function*>& targets();

inline void demand(bool holds, const char* property) {
  if (!holds) throw std::logic_error(property);
}

// Calls parse. False: parse threw a rowlock::error with the code `refusal`. Every other exception passes through.
inline bool accepts(const std::function<void()>& parse, errc refusal = errc::invalid_argument) {
  try {
    parse();
    return true;
  } catch (const error& failure) {
    demand(failure.kind() == refusal, "a refusal has the code of a refusal");
    demand(!std::string_view{failure.what()}.empty(), "a refusal says why");
    return false;
  }
}

// An independent reading of UTF-8: calls `each` with every character. False: it is not UTF-8.
bool read_utf8(std::string_view text, const std::function<void(char32_t)>& each);

// Whether the text is UTF-8 without control characters.
bool is_clean(std::string_view text);

}  // namespace rowlock::fuzz

#ifdef ROWLOCK_FUZZ_ONE
#define ROWLOCK_FUZZ(name)                                                             \
  static void fuzz_##name(std::string_view bytes);                                     \
  extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) { \
    fuzz_##name({reinterpret_cast<const char*>(data), size});                          \
    return 0;                                                                          \
  }                                                                                    \
  static void fuzz_##name(std::string_view bytes)
#else
#define ROWLOCK_FUZZ(name)                                           \
  static void fuzz_##name(std::string_view bytes);                   \
  [[maybe_unused]] static const bool is_registered_##name =          \
      ::rowlock::fuzz::targets().emplace(#name, fuzz_##name).second; \
  static void fuzz_##name(std::string_view bytes)
#endif
