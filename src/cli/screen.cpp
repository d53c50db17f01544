#include "cli/screen.hpp"

#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

constexpr std::string_view take_over = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr std::string_view give_back = "\x1b[?25h\x1b[?1049l";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

winsize window() {
  winsize size{};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return size;
}

}  // namespace

bool screen::is_possible() {
  return terminal{}.is_used();
}

screen::screen() {
  tcgetattr(STDIN_FILENO, &before_);
  auto keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  write_all(take_over);
}

screen::~screen() {
  write_all(give_back);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

// A terminal that does not report its size gets the usual one.
std::size_t screen::columns() {
  const auto size = window();
  return size.ws_col == 0 ? 80 : size.ws_col;
}

std::size_t screen::rows() {
  const auto size = window();
  return size.ws_row == 0 ? 24 : size.ws_row;
}

void screen::draw(const std::vector<std::string>& lines) {
  const auto width = std::max<std::size_t>(columns(), 3);
  const auto height = std::min(rows(), lines.size());
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < height; ++i) {
    text += cut(lines[i], width) + "\x1b[K";
    if (i + 1 < height) text += "\r\n";
  }
  write_all(text + "\x1b[J");
}

bool screen::asks_to_quit() {
  char keys[64];
  const auto count = ::read(STDIN_FILENO, keys, sizeof keys);
  if (count <= 0) return count == 0 || errno != EINTR;
  constexpr std::string_view quitting = "qQ\x03";
  return std::string_view{keys, static_cast<std::size_t>(count)}.find_first_of(quitting) !=
         std::string_view::npos;
}

}  // namespace rowlock::cli
