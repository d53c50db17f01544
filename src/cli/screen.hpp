// The whole terminal, for a table that is redrawn repeatedly.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <termios.h>

namespace rowlock::cli {

// While it lives, the terminal shows what is drawn, and keys are read one by one, even Ctrl-C. Afterwards the
// terminal shows its former contents. Used by one thread at a time.
class screen {
 public:
  // Whether standard input and output are the terminal, and this process is in the foreground.
  static bool is_possible();

  screen();
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  static std::size_t columns();
  static std::size_t rows();
  // Lines that are too long or too many are cut.
  void draw(const std::vector<std::string>& lines);
  // Reads the keys that were pressed, at least one. Returns whether q or Ctrl-C was among them, or the terminal is
  // gone.
  bool asks_to_quit();

 private:
  termios before_{};
};

}  // namespace rowlock::cli
