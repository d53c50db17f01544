#include "cli/migration_numbers.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rowlock::cli {

namespace {

// When the migration was made, as its up file says. It never changes, so an export after an update of rowlock has the
// same names. The first two files do not say it, and no file changes once it may have been applied.
std::uint64_t time_of(const migration& one) {
  constexpr std::uint64_t of_the_first[] = {20261120123205, 20261122172457};
  constexpr std::string_view mark = "-- Made at ";
  if (one.version <= static_cast<int>(std::size(of_the_first))) return of_the_first[one.version - 1];
  std::uint64_t time = 0;
  if (const auto at = one.up.find(mark); at != std::string::npos) {
    const auto* digits = one.up.data() + at + mark.size();
    std::from_chars(digits, one.up.data() + one.up.size(), time);
  }
  if (time == 0)
    throw error(errc::internal, fmt::format("migration {} does not say when it was made", one.version));
  return time;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The time that YYYYMMDDhhmmss stands for. Empty: it is not a valid time.
std::optional<std::chrono::sys_seconds> as_time(std::uint64_t version) {
  using namespace std::chrono;
  const auto take = [&](unsigned modulus) {
    const auto part = static_cast<unsigned>(version % modulus);
    version /= modulus;
    return part;
  };
  const unsigned second = take(100);
  const unsigned minute = take(100);
  const unsigned hour = take(100);
  const unsigned in_month = take(100);
  const unsigned in_year = take(100);
  const year_month_day date{year{static_cast<int>(version % 100000)}, month{in_year}, day{in_month}};
  if (version < 1970 || version > 9999 || !date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  return sys_days{date} + hours{hour} + minutes{minute} + seconds{second};
}

std::uint64_t as_version(std::chrono::sys_seconds time) {
  using namespace std::chrono;
  const auto midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss clock{time - midnight};
  std::uint64_t version = static_cast<std::uint64_t>(static_cast<int>(date.year()));
  for (const auto part :
       {static_cast<std::int64_t>(static_cast<unsigned>(date.month())),
        static_cast<std::int64_t>(static_cast<unsigned>(date.day())),
        static_cast<std::int64_t>(clock.hours().count()), static_cast<std::int64_t>(clock.minutes().count()),
        static_cast<std::int64_t>(clock.seconds().count())}) {
    version = version * 100 + static_cast<std::uint64_t>(part);
  }
  return version;
}

std::uint64_t after(std::uint64_t version) {
  const auto time = as_time(version);
  return time ? as_version(*time + std::chrono::seconds{1}) : version + 1;
}

std::optional<numbered_file> parse(const std::string& name, std::string_view heads) {
  if (!heads.empty() && (name.empty() || heads.find(name[0]) == std::string_view::npos)) return {};
  const auto begin = name.begin() + (heads.empty() ? 0 : 1);
  const auto end = std::find_if_not(begin, name.end(), is_digit);
  numbered_file file{.name = name, .version = {begin, end}, .text = {}};
  const auto& digits = file.version;
  const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), file.number);
  if (failure != std::errc{} || digits.empty() || !name.ends_with(".sql")) return {};
  return file;
}

}  // namespace

numbered_folder::numbered_folder(const std::string& path, std::string_view heads) {
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator{path, missing}) {
    auto file = parse(entry.path().filename().string(), heads);
    if (!file || !entry.is_regular_file()) continue;
    std::ifstream input{entry.path(), std::ios::binary};
    file->text.assign(std::istreambuf_iterator<char>{input}, {});
    files_.push_back(std::move(*file));
  }
  std::ranges::sort(files_, {}, &numbered_file::name);
}

const numbered_file* numbered_folder::find(const unnumbered_file& wanted) const {
  const numbered_file* found = nullptr;
  for (const auto& file : files_) {
    if (file.name != wanted.head + file.version + wanted.rest && file.text != wanted.text) continue;
    if (found) {
      throw error(errc::invalid_argument,
                  fmt::format("'{}' and '{}' are the same migration of rowlock's: remove "
                              "the one that was never applied",
                              found->name, file.name));
    }
    found = &file;
  }
  return found;
}

const numbered_file* numbered_folder::newest() const {
  const auto found = std::ranges::max_element(files_, {}, &numbered_file::number);
  return found == files_.end() ? nullptr : &*found;
}

version_sequence::version_sequence(const numbered_folder& folder, const numbering& how)
    : how_{how}, digits_{static_cast<std::size_t>(how.digits)} {
  const auto* newest = folder.newest();
  if (!newest) return;
  last_ = newest->number;
  digits_ = newest->version.size();
  if (!how_.start && as_time(last_)) how_.timestamps = true;
}

std::string version_sequence::next(const migration& one) {
  const auto lowest = how_.timestamps ? time_of(one) : how_.start.value_or(1);
  last_ = last_ == 0 ? lowest : std::max(lowest, after(last_));
  return fmt::format("{:0{}}", last_, digits_);
}

}  // namespace rowlock::cli
