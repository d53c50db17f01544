#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/listing.hpp"
#include "cli/subcommands.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

namespace rowlock::cli {

namespace {

// Prints the locks as they are read, with at most one page of them in memory.
class printer {
 public:
  explicit printer(bool as_json) : as_json_{as_json} {}

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
  printer shown{global.json};
  read_listing(db, words, [&](const std::vector<lock_info>& locks) { shown.print(locks); });
  shown.finish(global, !words.chooses());
  return success;
}

}  // namespace

void add_list(command_syntax root) {
  auto command = root.add_subcommand("list", "List locks, with their holders and numbers of waiters.",
                                     "rowlock list 'billing/*' --held\n"
                                     "  rowlock list --waiting --sort waiters --limit 20\n"
                                     "  rowlock list --json");
  auto words = std::make_shared<listing_words>();
  add_listing_options(command, *words);
  command.set_action([words](const context& global) { return list(global, *words); });
}

}  // namespace rowlock::cli
