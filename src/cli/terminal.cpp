#include "cli/terminal.hpp"

#include "cli/text.hpp"
#include "model/signal_mask.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rowlock::cli {

namespace {

constexpr std::string_view take_over = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr std::string_view give_back = "\x1b[?25h\x1b[?1049l";

void draw_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

// As draw_all(), but gives up at the limit. It opens the terminal once more, because the other programs of the terminal
// would get a flag of the descriptor that they share.
void draw_until(std::string_view text, std::chrono::steady_clock::time_point limit) {
  const int screen = ::open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (screen < 0) return;
  while (!text.empty() && std::chrono::steady_clock::now() < limit) {
    const auto written = ::write(screen, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) break;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    // A terminal that another thread writes to may have room and still refuse the text, so poll() is no help.
    if (!text.empty()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  close(screen);
}

// All zeros if standard output is no terminal.
winsize window() {
  winsize size{};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return size;
}

}  // namespace

std::size_t terminal_columns() {
  const auto size = window();
  return size.ws_col == 0 ? std::string::npos : size.ws_col;
}

terminal::terminal() : descriptor_{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {}

terminal::~terminal() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool terminal::is_ours() const noexcept {
  return descriptor_ >= 0 && tcgetpgrp(descriptor_) == getpgrp();
}

bool terminal::is_used() const noexcept {
  return is_ours() && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

void terminal::give_to(pid_t group) const noexcept {
  if (descriptor_ < 0) return;
  // SIGTTOU would stop a background group that does this.
  const model::signal_mask blocked{SIG_BLOCK, model::only_signal(SIGTTOU)};
  tcsetpgrp(descriptor_, group);
}

bool terminal::take_back_from(pid_t group) const noexcept {
  if (descriptor_ < 0 || tcgetpgrp(descriptor_) != group) return false;
  give_to(getpgrp());
  return true;
}

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
}

screen::~screen() {
  restore();
}

void screen::restore() const {
  auto flowing = before_;
  flowing.c_iflag &= ~static_cast<tcflag_t>(IXON);  // the kernel then also lets stopped output go on
  tcsetattr(STDIN_FILENO, TCSANOW, &flowing);
  draw_until(give_back, std::chrono::steady_clock::now() + std::chrono::seconds{1});
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
  std::string text;
  if (!std::exchange(is_taken_over_, true)) text = take_over;
  text += "\x1b[H";
  for (std::size_t i = 0; i < height; ++i) {
    text += cut(lines[i], width) + "\x1b[K";
    if (i + 1 < height) text += "\r\n";
  }
  draw_all(text + "\x1b[J");
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
