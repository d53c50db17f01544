#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/glob.hpp"
#include "cli/holder_text.hpp"
#include "cli/json.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <rowlock/admin.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace rowlock::cli {

namespace {

struct list_words {
  std::string pattern;
  bool held = false;
  bool waiting = false;
  std::int64_t limit = 0;  // none
  std::string sort = "name";
};

bool is_wanted(const lock_info& lock, const list_words& words) {
  if (words.held && lock.in_use == 0) return false;
  if (words.waiting && lock.waiters == 0) return false;
  return words.pattern.empty() || matches(lock.name, words.pattern);
}

std::chrono::milliseconds age_of(const lock_info& lock) {
  std::chrono::milliseconds oldest{-1};  // after those that are held
  for (const auto& holder : lock.holders) oldest = std::max(oldest, holder.held_for);
  return oldest;
}

// The longest held, or those with the most waiters, first; then by name.
bool comes_before(const lock_info& one, const lock_info& other, const std::string& sort) {
  if (sort == "age" && age_of(one) != age_of(other)) return age_of(one) > age_of(other);
  if (sort == "waiters" && one.waiters != other.waiters) return one.waiters > other.waiters;
  return one.name < other.name;
}

std::vector<std::string> row_of(const lock_info& lock) {
  std::vector<std::string> row{lock.name, to_string(lock.kind),
                               fmt::format("{}/{}", lock.in_use, lock.capacity), std::to_string(lock.token),
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

// Prints the locks as they come, at most one page of them at once in memory.
class printer {
 public:
  explicit printer(bool as_json) : as_json_{as_json} {}

  void print(const std::vector<lock_info>& locks) {
    if (as_json_) {
      for (const auto& lock : locks) array_.add(to_json(lock));
    } else if (!locks.empty()) {
      std::vector<std::vector<std::string>> rows;
      if (count_ == 0)
        rows.push_back({"NAME", "KIND", "USED", "TOKEN", "WAITERS", "HOLDER", "HELD", "SINCE", "EXPIRES IN"});
      for (const auto& lock : locks) rows.push_back(row_of(lock));
      fmt::print("{}", table(rows, widths_, columns_));
    }
    count_ += locks.size();
  }
  void finish(const context& global, bool all) {
    if (as_json_) {
      array_.finish();
    } else if (count_ == 0) {
      global.note(all ? "there are no locks" : "no lock fits");
    }
  }

 private:
  bool as_json_;
  json_printer array_;
  std::vector<std::size_t> widths_;
  std::size_t columns_ = terminal_columns();
  std::size_t count_ = 0;
};

int list(const context& global, const list_words& words) {
  constexpr std::size_t page_size = 1000;
  admin db{global.connect_to_read()};
  printer shown{global.json};
  std::vector<lock_info> kept;
  const bool sorts = words.sort != "name";
  const auto limit = words.limit == 0 ? std::string::npos : static_cast<std::size_t>(words.limit);
  const auto first = [&](const auto& a, const auto& b) { return comes_before(a, b, words.sort); };
  std::size_t printed = 0;
  std::string after;
  for (bool more = true; more && printed < limit;) {
    auto page = db.list(after, page_size);
    more = page.size() == page_size;
    if (more) after = page.back().name;
    std::erase_if(page, [&](const lock_info& lock) { return !is_wanted(lock, words); });
    if (!sorts) {
      if (page.size() > limit - printed) page.resize(limit - printed);
      printed += page.size();
      shown.print(page);
      continue;
    }
    std::ranges::move(page, std::back_inserter(kept));
    if (kept.size() <= limit) continue;
    std::ranges::nth_element(kept, kept.begin() + static_cast<std::ptrdiff_t>(limit), first);
    kept.resize(limit);
  }
  std::ranges::sort(kept, first);
  shown.print(kept);
  shown.finish(global, words.pattern.empty() && !words.held && !words.waiting);
  return success;
}

}  // namespace

void add_list(command_syntax root) {
  auto command = root.add_subcommand("list", "List locks, with their holders and numbers of waiters.",
                                     "rowlock list 'billing/*' --held\n"
                                     "  rowlock list --waiting --sort waiters --limit 20\n"
                                     "  rowlock list --json");
  auto words = std::make_shared<list_words>();
  command.add("PATTERN", words->pattern, "List only names that fit; * is any text, ? one character");
  command.add_flag("--held", words->held, "List only locks that are held");
  command.add_flag("--waiting", words->waiting, "List only locks that somebody waits for");
  command.add("--limit", words->limit, "List at most this many").value_name("N").positive();
  command
      .add("--sort", words->sort, "name (default), age (the longest held first), or waiters (the most first)")
      .value_name("ORDER")
      .one_of({"name", "age", "waiters"});
  command.set_action([words](const context& global) { return list(global, *words); });
}

}  // namespace rowlock::cli
