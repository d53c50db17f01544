#include "process_test.hpp"

#include <gmock/gmock.h>

namespace rowlock::test {

namespace {

// A server that accepts what is sent and answers nothing: its machine hangs, or a firewall has forgotten the
// connection.
class stalled_server_test : public own_server_test {
 protected:
  void SetUp() override {
    own_server_test::SetUp();
    // Records when each lease would have ended, and when that was noted.
    sql().run(in_dialect(R"(
      CREATE TABLE lease_log (noted_at bigint, expires_at bigint);
      CREATE FUNCTION microseconds(moment timestamptz) RETURNS bigint LANGUAGE sql AS
        'SELECT (extract(epoch FROM moment) * 1000000)::bigint';
      CREATE FUNCTION note_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO lease_log VALUES (microseconds(clock_timestamp()), microseconds(NEW.expires_at));
        RETURN NULL;
      END $$;
      CREATE TRIGGER note_lease AFTER INSERT OR UPDATE ON rowlock_lease
        FOR EACH ROW EXECUTE FUNCTION note_lease();
    )",
                         R"(
      CREATE TABLE lease_log (noted_at bigint, expires_at bigint);
      CREATE TRIGGER note_new_lease AFTER INSERT ON rowlock_lease FOR EACH ROW
        INSERT INTO lease_log VALUES (timestampdiff(MICROSECOND, '1970-01-01', sysdate(6)),
                                      timestampdiff(MICROSECOND, '1970-01-01', NEW.expires_at));
      CREATE TRIGGER note_lease AFTER UPDATE ON rowlock_lease FOR EACH ROW
        INSERT INTO lease_log VALUES (timestampdiff(MICROSECOND, '1970-01-01', sysdate(6)),
                                      timestampdiff(MICROSECOND, '1970-01-01', NEW.expires_at));
    )"));
  }
  worker_settings impatient() const {
    auto made = settings();
    made.ttl = 1'500ms;
    made.statement_timeout = 300ms;
    made.connect_timeout = 1'000ms;
    made.close_timeout = 500ms;
    return made;
  }
  // How long try_acquire() waits for the database: one connection and two statements.
  static constexpr auto longest_call = 1'000ms + 2 * 300ms;

  static std::chrono::milliseconds time_of(const std::function<void()>& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  }
};

TEST_P(stalled_server_test, notifies_the_holder_before_its_lease_ends) {
  worker holder{impatient()};
  holder.acquire("nightly");
  const auto renewals = number("SELECT count(*) FROM lease_log");
  until("the lease is renewed", [&] { return number("SELECT count(*) FROM lease_log") > renewals; });
  server().stop();
  const auto stopped_at = std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count();
  const auto told = holder.ask("await_loss");
  ASSERT_TRUE(told.starts_with("expired ")) << told;
  const auto told_at = std::stoll(told.substr(8));
  EXPECT_EQ(holder.ask("release"), "lost");
  server().go_on();
  const auto ends =
      number("SELECT max(expires_at) FROM lease_log WHERE noted_at <= $1", {std::to_string(stopped_at)});
  EXPECT_LT(told_at, ends);
  // The holder is not notified earlier than the margin and the time of a renewal require.
  EXPECT_GT(told_at, ends - 750'000);
  EXPECT_GT(holder.acquire("nightly").token, 0);
  EXPECT_EQ(holder.ask("release"), "released");
}

TEST_P(stalled_server_test, keeps_no_call_longer_than_its_bound) {
  worker holder{impatient()};
  worker trying{impatient()};
  worker waiting{impatient()};
  worker closing{impatient()};
  holder.acquire("held");
  for (auto* one : {&trying, &waiting, &closing}) {
    one->acquire("other");
    EXPECT_EQ(one->ask("release"), "released");
  }
  closing.acquire("closing");
  server().stop();

  EXPECT_LT(time_of([&] { EXPECT_EQ(holder.ask("release"), "unknown"); }), 500ms + slack);
  EXPECT_LT(time_of([&] { EXPECT_EQ(closing.ask("close"), "closed"); }), 500ms + slack);
  EXPECT_LT(time_of([&] { EXPECT_TRUE(trying.ask("try held").starts_with("error unreachable")); }),
            longest_call + slack);
  EXPECT_LT(time_of([&] { EXPECT_EQ(trying.ask("try_for held 400"), "busy"); }), 400ms + slack);
  waiting.tell("acquire held");
  // The attempt lasts past the end of every lease.
  EXPECT_LT(time_of([&] { EXPECT_TRUE(trying.ask("try_for held 1600").starts_with("error unreachable")); }),
            1'600ms + slack);
  EXPECT_TRUE(waiting.is_silent());
  EXPECT_LT(time_of([&] { closing.finish(); }), 500ms + slack);

  server().go_on();
  // A server that was stopped has work to catch up with, and these clients wait for an answer for 300 ms only. A release
  // without an answer goes on by itself: the next acquire, and the end, would wait for it in vain otherwise.
  const auto released = testing::AnyOf("released", "unknown");
  waiting.grant(10s);
  EXPECT_THAT(waiting.ask("release"), released);
  EXPECT_GT(trying.acquire("held").token, 0);
  EXPECT_THAT(trying.ask("release"), released);
  EXPECT_GT(holder.acquire("held").token, 0);
  EXPECT_THAT(holder.ask("release"), released);
  // The attempts that gave up have left nothing behind.
  until("nobody stands in the queue or holds anything",
        [&] { return queued() == 0 && number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL") <= 1; });
}

ROWLOCK_FOR_EACH_SERVER(stalled_server_test);

}  // namespace

}  // namespace rowlock::test
