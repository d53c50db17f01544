// The controlling terminal: its foreground group, its width, and a screen that is redrawn.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>
#include <termios.h>

namespace rowlock::cli {

// How many characters fit into a line of standard output if it is a terminal; otherwise no limit.
std::size_t terminal_columns();

// The controlling terminal, which serves one process group at a time: its foreground group. Used by one thread.
class terminal {
 public:
  terminal();  // opens the terminal, if there is one
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  // Whether this process's group is in the foreground.
  bool is_ours() const noexcept;
  // Whether standard input and output are this terminal, and this process's group is in the foreground.
  bool is_used() const noexcept;
  // Makes the group the foreground group. Async-signal-safe.
  void give_to(pid_t group) const noexcept;
  // If `group` is the foreground group, makes this process's group the foreground group; otherwise returns false.
  bool take_back_from(pid_t group) const noexcept;

 private:
  int descriptor_;
};

// The whole terminal, for a table that is redrawn repeatedly. While a screen lives, keys are read one by one, even
// Ctrl-C, and from the first draw() on the terminal shows what is drawn. Afterwards the terminal shows its former
// contents. Used by one thread at a time, except restore().
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
  // What the destructor does: returns the terminal as it was before. Lets output go on that Ctrl-S has stopped. If
  // nobody reads what the terminal shows, gives up after a second, and only its keys are as before. For any thread,
  // also while another one draws.
  void restore() const;

 private:
  termios before_{};
  bool is_taken_over_ = false;
};

}  // namespace rowlock::cli
