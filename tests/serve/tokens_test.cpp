#include "serve/tokens.hpp"

#include "support/temporary_folder.hpp"

#include <rowlock/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rowlock::test {
namespace {

using serve::role;
using serve::tokens;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const error& problem) {
    EXPECT_EQ(problem.kind(), errc::invalid_argument);
    return problem.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(tokens_test, a_new_token_is_found_by_its_line) {
  const auto one = serve::make_token("prometheus", {role::read});
  const auto other = serve::make_token("deploy-1", {role::read, role::lock});
  EXPECT_NE(one.token, other.token);
  EXPECT_THAT(one.line, Not(HasSubstr(one.token.substr(8))));
  const auto known =
      tokens::parse("# who may do what\n\n" + one.line + "\n  " + other.line + "\r\n", "tokens");
  const auto found = known.find(other.token);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "deploy-1");
  EXPECT_TRUE(found->has(role::read));
  EXPECT_TRUE(found->has(role::lock));
  EXPECT_FALSE(found->has(role::operate));
  EXPECT_EQ(known.find(one.token)->name, "prometheus");
  EXPECT_FALSE(known.find(""));
  EXPECT_FALSE(known.find(one.token + "0"));
  EXPECT_FALSE(known.find(one.line));
}

TEST(tokens_test, knows_the_digest_of_sha256) {
  const auto known = tokens::parse(
      "abc read sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n", "tokens");
  EXPECT_TRUE(known.find("abc"));
}

TEST(tokens_test, refuses_lines_that_are_none_and_repeats_nothing_of_them) {
  const std::string digest = " sha256:" + std::string(64, 'a');
  for (const auto& line :
       {std::string{"name read"}, "name" + digest, "name read" + digest + "a", "na/me read" + digest,
        "name rEad" + digest, "name read sha256:" + std::string(64, 'g'), std::string{"name read secret"}}) {
    const auto why = refusal([&] { tokens::parse("\n" + line + "\n", "tokens"); });
    EXPECT_THAT(why, HasSubstr("line 2")) << line;
    EXPECT_THAT(why, Not(HasSubstr("secret")));
  }
  EXPECT_THAT(refusal([] { tokens::parse("# none\n", "tokens"); }), HasSubstr("has no token"));
}

TEST(tokens_test, refuses_impossible_names_and_roles) {
  refusal([] { serve::make_token("two words", {role::read}); });
  refusal([] { serve::make_token("", {role::read}); });
  refusal([] { serve::make_token("name", {}); });
  EXPECT_THAT(refusal([] { serve::parse_role("admin"); }), HasSubstr("read, lock and operate"));
}

TEST(tokens_test, refuses_a_file_that_others_may_read_or_change) {
  namespace fs = std::filesystem;
  const temporary_folder folder;
  const auto path = (folder.path() / "tokens").string();
  refusal([&] { tokens::read(path); });
  std::ofstream{path} << serve::make_token("name", {role::read}).line << '\n';
  for (const int mode : {0644, 0604, 0660, 0602}) {
    fs::permissions(path, static_cast<fs::perms>(mode));
    EXPECT_THAT(refusal([&] { tokens::read(path); }), HasSubstr("chmod")) << mode;
  }
  for (const int mode : {0600, 0640, 0400}) {
    fs::permissions(path, static_cast<fs::perms>(mode));
    tokens::read(path);
  }
  EXPECT_THAT(refusal([&] { tokens::read(folder.path()); }), HasSubstr("is no file"));
}

}  // namespace
}  // namespace rowlock::test
