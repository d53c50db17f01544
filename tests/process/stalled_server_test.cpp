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

  // The worker acquires the name and releases it: again if the machine has paused for longer than the ttl.
  static void take_turn(worker& one, const std::string& name) {
    std::string said;
    until(name + " is released", [&] {
      one.acquire(name);
      said = one.ask("release");
      return said != "lost";
    });
    EXPECT_THAT(said, testing::AnyOf("released", "unknown"));
  }

  // Stops the server while the worker holds a lock. Returns how long before its lease's end the worker was notified.
  std::chrono::microseconds notified_before_end(worker& holder) {
    holder.acquire("nightly");
    const auto renewals = number("SELECT count(*) FROM lease_log");
    until("the lease is renewed", [&] { return number("SELECT count(*) FROM lease_log") > renewals; });
    server().stop();
    const auto stopped_at = std::chrono::duration_cast<std::chrono::microseconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count();
    const auto told = holder.ask("await_loss");
    if (!told.starts_with("expired ")) throw std::runtime_error("the holder says: " + told);
    EXPECT_EQ(holder.ask("release"), "lost");
    server().go_on();
    const auto ends =
        number("SELECT max(expires_at) FROM lease_log WHERE noted_at <= $1", {std::to_string(stopped_at)});
    return std::chrono::microseconds{ends - std::stoll(told.substr(8))};
  }
};

TEST_P(stalled_server_test, notifies_the_holder_before_its_lease_ends) {
  worker holder{impatient()};
  // If the machine pauses at the wrong moment, the notification is late. So one of a few rounds must be in time.
  auto early = 0us;
  for (int round = 0; round < 5 && (early <= 0us || early >= 750ms); ++round) {
    early = notified_before_end(holder);
  }
  EXPECT_GT(early, 0us);
  // The holder is not notified earlier than the margin and the time of a renewal require.
  EXPECT_LT(early, 750ms);
  take_turn(holder, "nightly");
}

TEST_P(stalled_server_test, keeps_no_call_longer_than_its_bound) {
  worker holder{impatient()};
  worker trying{impatient()};
  worker waiting{impatient()};
  worker closing{impatient()};
  // Each of them makes its connections.
  for (auto* one : {&holder, &trying, &waiting, &closing}) take_turn(*one, "other");
  closing.acquire("closing");
  holder.acquire("held");
  server().stop();

  // With the default timeouts an attempt would take 15 s, which is longer than each bound.
  EXPECT_LT(time_of([&] { EXPECT_EQ(holder.ask("release"), "unknown"); }), 500ms + slack);
  EXPECT_LT(time_of([&] { EXPECT_EQ(closing.ask("close"), "closed"); }), 500ms + slack);
  EXPECT_LT(time_of([&] { EXPECT_TRUE(trying.ask("try held").starts_with("error unreachable")); }),
            longest_call + slack);
  // If the machine pauses, a failure to connect may be known when the time is up, and the attempt reports it.
  std::string said;
  for (int tries = 0; tries < 5 && said != "busy"; ++tries) {
    EXPECT_LT(time_of([&] { said = trying.ask("try_for held 400"); }), 400ms + slack);
  }
  EXPECT_EQ(said, "busy");
  waiting.tell("acquire held");
  // The attempt lasts past the end of every lease.
  EXPECT_LT(time_of([&] { EXPECT_TRUE(trying.ask("try_for held 1600").starts_with("error unreachable")); }),
            1'600ms + slack);
  EXPECT_TRUE(waiting.is_silent());
  EXPECT_LT(time_of([&] { closing.finish(); }), 500ms + slack);

  server().go_on();
  // A server that was stopped has work to catch up with, and these clients wait for an answer for 300 ms only. A release
  // without an answer goes on by itself: the next acquire, and the end, would wait for it in vain otherwise.
  waiting.grant(10s);
  EXPECT_THAT(waiting.ask("release"), testing::AnyOf("released", "unknown", "lost"));
  take_turn(trying, "held");
  take_turn(holder, "held");
  // The attempts that gave up have left nothing behind.
  until("nobody stands in the queue or holds anything",
        [&] { return queued() == 0 && number("SELECT count(*) FROM @lock WHERE hold_id IS NOT NULL") <= 1; });
}

ROWLOCK_FOR_EACH_SERVER(stalled_server_test);

}  // namespace

}  // namespace rowlock::test
