#include "cli/receipt.hpp"

#include "cli/exit_code.hpp"

#include <iostream>
#include <iterator>

namespace rowlock::cli {

std::string receipt_of(const std::string& word) {
  if (word != "-") return word;
  std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  // A name may end in a space, but contains no line break.
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

int tell_of_loss(const context& global) {
  global.print_to_stderr(
      "the hold of this receipt is over: it has expired, or somebody has released it or taken it over");
  return hold_lost;
}

}  // namespace rowlock::cli
