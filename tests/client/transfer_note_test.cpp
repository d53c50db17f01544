#include "client/call/transfer_note.hpp"

#include <rowlock/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace rowlock::test {
namespace {

using client_layer::transfer_note;
using purpose = transfer_note::purpose;

class transfer_note_test : public testing::TestWithParam<purpose> {
 protected:
  const transfer_note note{GetParam(), model::lease_id::random(), model::hold_id::random(), "pay/roll",
                           GetParam() == purpose::reclaim ? "boot.4711" : ""};
  const std::string text = note.to_string();

  static bool is_refused(const std::string& text, purpose expected = GetParam()) {
    try {
      transfer_note::parse(text, expected);
    } catch (const error& failure) {
      return failure.code() == errc::invalid_argument;
    }
    return false;
  }
};

TEST_P(transfer_note_test, reads_what_it_wrote) {
  const auto read = transfer_note::parse(text, GetParam());
  EXPECT_EQ(read.what, note.what);
  EXPECT_EQ(read.lease, note.lease);
  EXPECT_EQ(read.hold, note.hold);
  EXPECT_EQ(read.name, note.name);
  EXPECT_EQ(read.process, note.process);
}

TEST_P(transfer_note_test, serves_no_other_purpose) {
  EXPECT_TRUE(is_refused(text, GetParam() == purpose::adopt ? purpose::reclaim : purpose::adopt));
}

TEST_P(transfer_note_test, is_refused_when_cut_short_or_lengthened) {
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_TRUE(is_refused(text.substr(0, length)));
  EXPECT_TRUE(is_refused(text + "s"));
}

TEST_P(transfer_note_test, is_refused_with_any_character_changed) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto changed = text;
    changed[at] = changed[at] == '0' ? '1' : '0';
    EXPECT_TRUE(is_refused(changed)) << at;
  }
}

TEST_P(transfer_note_test, is_refused_in_capitals) {
  auto capitals = text;
  std::transform(capitals.begin(), capitals.end(), capitals.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_TRUE(is_refused(capitals));
}

TEST(receipt_test, of_version_0_1_names_no_process) {
  const auto note = transfer_note::parse(
      "rowlock-receipt/2/fe4a1a60/0123456789abcdef0123456789abcdef/fedcba9876543210fedcba9876543210/billing/"
      "nightly",
      purpose::reclaim);
  EXPECT_EQ(note.name, "billing/nightly");
  EXPECT_EQ(note.process, "");
}

INSTANTIATE_TEST_SUITE_P(purposes, transfer_note_test, testing::Values(purpose::adopt, purpose::reclaim));

}  // namespace
}  // namespace rowlock::test
