#include "client/call/transfer_note.hpp"

#include "fuzz.hpp"

#include <cstdint>
#include <cstdio>

using namespace rowlock;
using client_layer::transfer_note;

namespace {

void check(const std::string& text, transfer_note::purpose purpose) {
  fuzz::accepts([&] {
    const auto note = transfer_note::parse(text, purpose);
    fuzz::demand(note.what == purpose, "a text serves the purpose that it names");
    fuzz::demand(note.to_string() == text, "one hold has one text");
  });
}

// Computes the checksum of a text, so that the fuzzer gets past it.
std::string sum_of(std::string_view body) {
  std::uint32_t sum = 2166136261U;
  for (const char c : body) sum = (sum ^ static_cast<std::uint8_t>(c)) * 16777619U;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(sum));
  return digits;
}

}  // namespace

ROWLOCK_FUZZ(receipt) {
  const std::string text{bytes};
  check(text, transfer_note::purpose::adopt);
  check(text, transfer_note::purpose::reclaim);
  check("rowlock-hold/2/" + sum_of(text) + "/" + text, transfer_note::purpose::adopt);
  for (const std::string prefix : {"rowlock-receipt/2/", "rowlock-receipt/3/"})
    check(prefix + sum_of(text) + "/" + text, transfer_note::purpose::reclaim);
}
