#include "cli/list.hpp"

#include "cli/exit_code.hpp"
#include "cli/glob.hpp"
#include "cli/output.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>

namespace rowlock::cli {

namespace {

bool is_wanted(const lock_info& lock, const listing_words& words) {
  if (words.held && lock.in_use == 0) return false;
  if (words.waiting && lock.waiters == 0) return false;
  return words.pattern.empty() || matches(lock.name, words.pattern);
}

std::chrono::milliseconds age_of(const lock_info& lock) {
  std::chrono::milliseconds oldest{-1};  // sorts a free lock after those that are held
  for (const auto& holder : lock.holders) oldest = std::max(oldest, holder.held_for);
  return oldest;
}

// The locks that are held longest, or that have the most waiters, come first. The names decide between equal ones.
bool comes_before(const lock_info& one, const lock_info& other, const std::string& sort) {
  if (sort == "age" && age_of(one) != age_of(other)) return age_of(one) > age_of(other);
  if (sort == "waiters" && one.waiters != other.waiters) return one.waiters > other.waiters;
  return one.name < other.name;
}

// Prints the locks as they are read, with at most one page of them in memory.
class list_printer {
 public:
  explicit list_printer(bool as_json) : as_json_{as_json} {}

  void print(const std::vector<lock_info>& locks) {
    if (as_json_) {
      for (const auto& lock : locks) array_.add(to_json(lock));
    } else if (!locks.empty()) {
      std::vector<std::vector<std::string>> rows;
      if (count_ == 0) rows.push_back(listing_heading());
      for (const auto& lock : locks) rows.push_back(listing_row(lock));
      fmt::print("{}", table(rows, widths_, columns_));
    }
    count_ += locks.size();
  }
  void finish(const context& global, bool all) {
    if (as_json_) {
      array_.finish();
    } else if (count_ == 0) {
      global.note(all ? "there are no locks" : "no lock matches");
    }
  }

 private:
  bool as_json_;
  json_printer array_;
  std::vector<std::size_t> widths_;
  std::size_t columns_ = terminal_columns();
  std::size_t count_ = 0;
};

int list(const context& global, const listing_words& words) {
  admin db{global.connect_to_read()};
  list_printer shown{global.json};
  read_listing(db, words, [&](const std::vector<lock_info>& locks) { shown.print(locks); });
  shown.finish(global, !words.chooses());
  return success;
}

}  // namespace

void add_listing_options(CLI::App& command, listing_words& words) {
  add_nonempty(command, "PATTERN", words.pattern, "Only names that match; * is any text, ? one character");
  command.add_flag("--held", words.held, "Only locks that are held");
  command.add_flag("--waiting", words.waiting, "Only locks that somebody waits for");
  add_nonempty(command, "--limit", words.limit, "At most this many locks")
      ->type_name("N")
      ->check(is_positive());
  add_nonempty(command, "--sort", words.sort,
               "name (default), age (longest held first), or waiters (most waiters first)")
      ->type_name("ORDER")
      ->check(is_one_of({"name", "age", "waiters"}));
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

void add_list(command_line& program) {
  auto& command =
      add_subcommand(program.root(), "list", "List locks, with their holders and numbers of waiters.",
                     "rowlock list 'billing/*' --held\n"
                     "  rowlock list --waiting --sort waiters --limit 20\n"
                     "  rowlock list --json");
  auto words = std::make_shared<listing_words>();
  add_listing_options(command, *words);
  program.set_action(command, [words](const context& global) { return list(global, *words); });
}

}  // namespace rowlock::cli
