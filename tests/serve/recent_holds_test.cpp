#include "serve/recent_holds.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {

namespace {

serve::http_hold_key key(const std::string& id) {
  return {"client", "job", id};
}

const auto now = std::chrono::steady_clock::now();

void add(serve::recent_holds& to, const std::string& id, const std::string& text) {
  to.add(key(id), text, now + std::chrono::seconds{1});
}

TEST(recent_holds_test, gives_a_text_once) {
  serve::recent_holds recent{2};
  add(recent, "a", "text of a");
  EXPECT_EQ(recent.take(key("a"), now), "text of a");
  EXPECT_FALSE(recent.take(key("a"), now));
}

TEST(recent_holds_test, keeps_the_latest_text_of_a_key) {
  serve::recent_holds recent{2};
  add(recent, "a", "first");
  add(recent, "a", "second");
  EXPECT_EQ(recent.take(key("a"), now), "second");
  EXPECT_FALSE(recent.take(key("a"), now));
}

TEST(recent_holds_test, forgets_the_oldest) {
  serve::recent_holds recent{2};
  for (const auto* id : {"a", "b", "a", "c"}) add(recent, id, id);
  EXPECT_FALSE(recent.take(key("b"), now));
  EXPECT_EQ(recent.take(key("a"), now), "a");
  EXPECT_EQ(recent.take(key("c"), now), "c");
}

// A release that gets no answer could otherwise take its end for its own work.
TEST(recent_holds_test, gives_no_text_of_a_hold_that_may_have_expired) {
  serve::recent_holds recent{2};
  add(recent, "a", "text of a");
  EXPECT_FALSE(recent.take(key("a"), now + std::chrono::seconds{1}));
}

}  // namespace

}  // namespace rowlock::test
