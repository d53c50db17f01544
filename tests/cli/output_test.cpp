#include "cli/output.hpp"

#include <gtest/gtest.h>

namespace rowlock::cli {

TEST(findings_text, puts_the_checks_that_could_not_be_made_into_one_block) {
  const auto unknown = [](const std::string& code) {
    return finding{code, severity::unknown, code + " cannot be read", "It may be so.", "ask for more rights"};
  };
  const finding bad{"fsync-off", severity::error, "fsync is off", "Grants are lost.", "turn it on"};
  const finding strong{"strong-role", severity::note, "it owns the tables", "It may drop them.", "use less"};
  EXPECT_EQ(findings_text({bad, unknown("snapshots"), unknown("clients"), strong}),
            "error: fsync-off\n  found:  fsync is off\n  why:    Grants are lost.\n  remedy: turn it on\n\n"
            "unknown: 2 checks could not be made\n  snapshots: snapshots cannot be read\n"
            "  clients: clients cannot be read\n  remedy: ask for more rights\n\n"
            "note: strong-role\n  found:  it owns the tables\n  why:    It may drop them.\n"
            "  remedy: use less\n\n"
            "1 error, 0 warnings, 2 unknown, 1 note\n");
  EXPECT_EQ(findings_text({unknown("clients")}),
            "unknown: clients\n  found:  clients cannot be read\n  why:    It may be so.\n"
            "  remedy: ask for more rights\n\n0 errors, 0 warnings, 1 unknown, 0 notes\n");
}

}  // namespace rowlock::cli
