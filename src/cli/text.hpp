// Texts that people read and write: durations, tables, and text from the database, which may contain anything.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

// Reads a duration as people write it: "500ms", "30s", "1m", "2h", "1d", a whole number and a unit. Only "0" needs no
// unit, because 30 may mean seconds or milliseconds. Throws error(invalid_argument). what: the option's name, for the
// message.
std::chrono::milliseconds parse_duration(std::string_view what, std::string_view text);

// Writes a duration in the largest unit that fits, with at most one decimal: "850ms", "12.3s", "4m", "2.5h", "3d".
// A negative one is written as "-3s".
std::string format_duration(std::chrono::milliseconds value);

// Makes a text safe on a terminal: control characters, bytes that are no UTF-8 and characters that reorder or hide text
// become escapes such as \x1b and \u{202e}. A backslash stays a backslash.
std::string printable(std::string_view text);

// Replaces the password of every URL and conninfo ("password=…") in a message, which may repeat a mistyped
// command line.
std::string without_passwords(std::string_view text);

// A message as one line for people: printable, without passwords, and with a space for each line break.
// (libpq's messages have several lines.)
std::string one_line(std::string_view message);

// Rows of cells, aligned, with two spaces between columns; the first row is the heading. Cells are made printable.
std::string table(const std::vector<std::vector<std::string>>& rows);
// A part of such a table: the columns get at least the widths of the earlier parts, which are updated. If a line
// would be longer than `longest`, its first cell is cut, to no less than 12 characters.
std::string table(const std::vector<std::vector<std::string>>& rows, std::vector<std::size_t>& widths,
                  std::size_t longest);

// At most that many characters of the text; "..." replaces what is cut off. Requires: most is at least 3.
std::string cut(const std::string& text, std::size_t most);

// "1 lock", "2 locks".
std::string count_of(long long number, std::string_view noun);

}  // namespace rowlock::cli
