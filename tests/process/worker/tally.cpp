#include "tally.hpp"

#include <sstream>

namespace rowlock::test {

void tally::fail(const std::string& what) {
  ++failed;
  const std::lock_guard lock{mutex_};
  if (what_failed_.empty()) what_failed_ = what;
}

void tally::broke(const std::string& what) {
  ++broken;
  const std::lock_guard lock{mutex_};
  if (what_broke_.empty()) what_broke_ = what;
}

std::string tally::report() const {
  std::ostringstream text;
  const std::lock_guard lock{mutex_};
  text << "granted=" << granted << " written=" << written << " lost=" << lost << " unaware=" << unaware
       << " wrong=" << wrong << " result_without_answer=" << result_without_answer << " broken=" << broken
       << " repeated=" << repeated << " unreleased=" << unreleased << " pending=" << pending
       << " failed=" << failed << ' ' << (what_failed_.empty() ? what_broke_ : what_failed_);
  return text.str();
}

}  // namespace rowlock::test
