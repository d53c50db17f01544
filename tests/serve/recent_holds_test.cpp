#include "serve/recent_holds.hpp"

#include <gtest/gtest.h>

namespace rowlock::test {

namespace {

serve::http_hold_key key(const std::string& id) {
  return {"client", "job", id};
}

TEST(recent_holds_test, gives_a_text_once) {
  serve::recent_holds recent{2};
  recent.add(key("a"), "text of a");
  EXPECT_EQ(recent.take(key("a")), "text of a");
  EXPECT_FALSE(recent.take(key("a")));
}

TEST(recent_holds_test, keeps_the_latest_text_of_a_key) {
  serve::recent_holds recent{2};
  recent.add(key("a"), "first");
  recent.add(key("a"), "second");
  EXPECT_EQ(recent.take(key("a")), "second");
  EXPECT_FALSE(recent.take(key("a")));
}

TEST(recent_holds_test, forgets_the_oldest) {
  serve::recent_holds recent{2};
  for (const auto* id : {"a", "b", "a", "c"}) recent.add(key(id), id);
  EXPECT_FALSE(recent.take(key("b")));
  EXPECT_EQ(recent.take(key("a")), "a");
  EXPECT_EQ(recent.take(key("c")), "c");
}

}  // namespace

}  // namespace rowlock::test
