#include "excerpt.hpp"

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace rowlock::history {

namespace {

constexpr int row_height = 18;
constexpr int left = 320;
constexpr int width = 1200;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : cli::printable(text)) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

class picture {
 public:
  picture(const std::vector<event>& events, const std::vector<violation>& found) : events_{events} {
    for (const auto& broken : found) red_.insert(broken.events.begin(), broken.events.end());
    start_ = events.front().time;
    length_ = std::max<std::int64_t>(1, events.back().time - start_);
  }

  void add(const std::string& name, const lock_history& lock) {
    for (const auto& one : lock.attempts) {
      const auto& begun = events_[one.invoked];
      const auto row = row_of(name + "  " + begun.process + " " + begun.actor);
      bar(row, one.invoked_at, one.waited_until, red_.contains(one.invoked) ? "#e0a0a0" : "#c8c8c8", "waits");
      if (!one.granted) continue;
      const bool is_red = red_.contains(*one.answered);
      const auto title = fmt::format("token {}, hold {}", one.token, one.hold);
      bar(row, one.certain_until, std::min(one.possible_until, start_ + length_),
          is_red ? "#f4b4b4" : "#cfe8cf", title + " (may still stand)");
      bar(row, one.answered_at, one.certain_until, is_red ? "#d02020" : "#4c9a4c", title);
    }
  }

  void write(std::ostream& to) const {
    to << fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        left + width + 20, (static_cast<int>(rows_.size()) + 2) * row_height);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      to << fmt::format("<text x=\"4\" y=\"{}\">{}</text>\n", static_cast<int>(i + 1) * row_height + 13,
                        escaped(rows_[i]));
    }
    for (int tenth = 0; tenth <= 10; ++tenth) {
      const int x = left + width * tenth / 10;
      to << fmt::format(
          "<line x1=\"{0}\" x2=\"{0}\" y1=\"14\" y2=\"{1}\" stroke=\"#e4e4e4\"/>"
          "<text x=\"{0}\" y=\"11\">{2} ms</text>\n",
          x, (rows_.size() + 1) * row_height, length_ * tenth / 10 / 1'000'000);
    }
    to << bars_ << "</svg>\n";
  }

 private:
  std::size_t row_of(const std::string& label) {
    const auto found = std::ranges::find(rows_, label);
    if (found != rows_.end()) return static_cast<std::size_t>(found - rows_.begin());
    rows_.push_back(label);
    return rows_.size() - 1;
  }

  void bar(std::size_t row, std::int64_t from, std::int64_t to, const char* colour,
           const std::string& title) {
    if (to < from) return;
    const auto x = [&](std::int64_t time) {
      return left + static_cast<double>(time - start_) / static_cast<double>(length_) * width;
    };
    bars_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
        x(from), static_cast<int>(row + 1) * row_height + 3, std::max(0.6, x(to) - x(from)), row_height - 5,
        colour, escaped(title));
  }

  const std::vector<event>& events_;
  std::set<std::size_t> red_;
  std::int64_t start_ = 0;
  std::int64_t length_ = 1;
  std::vector<std::string> rows_;
  std::string bars_;
};

}  // namespace

void draw(const std::vector<event>& events, const std::map<std::string, lock_history>& locks,
          const std::vector<violation>& found, std::ostream& to) {
  if (events.empty()) {
    to << "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n";
    return;
  }
  picture made{events, found};
  for (const auto& [name, lock] : locks) made.add(name, lock);
  made.write(to);
}

}  // namespace rowlock::history
