#include "cli/listing.hpp"

#include "cli/duration.hpp"
#include "cli/glob.hpp"
#include "cli/holder_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rowlock::cli {

namespace {

bool is_wanted(const lock_info& lock, const listing_words& words) {
  if (words.held && lock.in_use == 0) return false;
  if (words.waiting && lock.waiters == 0) return false;
  return words.pattern.empty() || matches(lock.name, words.pattern);
}

std::chrono::milliseconds age_of(const lock_info& lock) {
  std::chrono::milliseconds oldest{-1};  // after those that are held
  for (const auto& holder : lock.holders) oldest = std::max(oldest, holder.held_for);
  return oldest;
}

// The longest held, or those with the most waiters, come first; then by name.
bool comes_before(const lock_info& one, const lock_info& other, const std::string& sort) {
  if (sort == "age" && age_of(one) != age_of(other)) return age_of(one) > age_of(other);
  if (sort == "waiters" && one.waiters != other.waiters) return one.waiters > other.waiters;
  return one.name < other.name;
}

}  // namespace

void add_listing_options(command_syntax command, listing_words& words) {
  command.add("PATTERN", words.pattern, "Only names that match; * is any text, ? one character");
  command.add_flag("--held", words.held, "Only locks that are held");
  command.add_flag("--waiting", words.waiting, "Only locks that somebody waits for");
  command.add("--limit", words.limit, "At most this many locks").value_name("N").positive();
  command
      .add("--sort", words.sort, "name (default), age (longest held first), or waiters (most waiters first)")
      .value_name("ORDER")
      .one_of({"name", "age", "waiters"});
}

void read_listing(admin& db, const listing_words& words,
                  const std::function<void(const std::vector<lock_info>&)>& use) {
  constexpr std::size_t page_size = 1000;
  std::vector<lock_info> kept;
  const bool sorts = words.sort != "name";
  const auto limit = words.limit == 0 ? std::string::npos : static_cast<std::size_t>(words.limit);
  const auto first = [&](const auto& a, const auto& b) { return comes_before(a, b, words.sort); };
  std::size_t used = 0;
  std::string after;
  for (bool more = true; more && used < limit;) {
    auto page = db.list(after, page_size);
    more = page.size() == page_size;
    if (more) after = page.back().name;
    std::erase_if(page, [&](const lock_info& lock) { return !is_wanted(lock, words); });
    if (!sorts) {
      if (page.size() > limit - used) page.resize(limit - used);
      used += page.size();
      use(page);
      continue;
    }
    std::ranges::move(page, std::back_inserter(kept));
    if (kept.size() <= limit) continue;
    std::ranges::nth_element(kept, kept.begin() + static_cast<std::ptrdiff_t>(limit), first);
    kept.resize(limit);
  }
  if (!sorts) return;
  std::ranges::sort(kept, first);
  use(kept);
}

std::vector<std::string> listing_heading() {
  return {"NAME", "KIND", "USED", "TOKEN", "WAITERS", "HOLDER", "HELD", "SINCE", "EXPIRES IN"};
}

std::vector<std::string> listing_row(const lock_info& lock) {
  std::vector<std::string> row{lock.name, to_string(lock.kind),
                               fmt::format("{}/{}", lock.in_use, lock.capacity), lock.token.to_string(),
                               std::to_string(lock.waiters)};
  if (lock.holders.empty()) {
    if (is_held_by_the_dead(lock)) row.emplace_back("(dead)");
    return row;
  }
  const auto& first = lock.holders.front();
  const auto others = lock.holders.size() - 1;
  row.push_back(holder_text(first) + (others == 0 ? "" : fmt::format(" and {} more", others)));
  row.push_back(format_duration(first.held_for));
  row.push_back(time_text(-first.held_for));
  row.push_back(format_duration(first.expires_in));
  return row;
}

}  // namespace rowlock::cli
