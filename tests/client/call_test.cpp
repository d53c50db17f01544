#include "client/call/call.hpp"

#include "client/client_test.hpp"
#include "client/fake_call.hpp"
#include "primitives/access.hpp"

namespace rowlock::test {
namespace {

using client_layer::wait_limit;

class call_test : public virtual_client_test {
 protected:
  std::optional<int> waited(std::stop_token stop = {}) {
    fake_call made{*primitives::access::engine(db), asked};
    made.submit();
    return client_layer::wait_until(made, made.until(), stop);
  }
  client_layer::client_environment& environment() { return primitives::access::engine(db)->environment(); }
  std::optional<errc> without_answer(const wait_limit& how_long, const std::optional<error>& last_failure,
                                     const std::stop_token& stop = {}) {
    try {
      how_long.check_without_answer(environment(), stop, last_failure);
    } catch (const error& thrown) {
      return thrown.kind();
    }
    return {};
  }

  fake asked;
  client db = new_client();
};

TEST_F(call_test, a_thread_gets_the_answer_or_the_failure) {
  asked.answered.complete(7);
  EXPECT_EQ(waited(), 7);
  EXPECT_EQ(asked.submitted, 1);
  fake failing;
  failing.answered.fail(std::make_exception_ptr(error(errc::mismatch, "another kind")));
  fake_call made{*primitives::access::engine(db), failing};
  EXPECT_EQ(code_of([&] { client_layer::wait_until(made, {}, {}); }), errc::mismatch);
  EXPECT_EQ(asked.left + failing.left, 0);
}

TEST_F(call_test, its_time_or_a_stop_make_it_leave) {
  asked.until = time.now();
  EXPECT_FALSE(waited());
  EXPECT_EQ(asked.left, 1);
  EXPECT_FALSE(asked.answered.complete(7)) << "nobody waits any more";
  fake stopped;
  fake_call made{*primitives::access::engine(db), stopped};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(client_layer::wait_until(made, {}, stop.get_token()));
  EXPECT_EQ(stopped.left, 1);
}

TEST_F(call_test, an_answer_that_comes_while_it_leaves_is_taken) {
  asked.until = time.now();
  asked.answers_late = true;
  EXPECT_EQ(waited(), 7);
  EXPECT_EQ(asked.left, 1);
}

TEST_F(call_test, a_stop_does_not_end_what_it_still_waits_for_when_it_has_left) {
  std::stop_source stop;
  stop.request_stop();
  asked.answers_late = true;
  asked.leaves_at_once = false;
  EXPECT_EQ(waited(stop.get_token()), 7);
  EXPECT_EQ(asked.left, 1);
}

TEST_F(call_test, a_limit_says_until_when_a_call_waits) {
  EXPECT_FALSE((wait_limit{true, {}}.until(environment(), time.now())));
  EXPECT_EQ((wait_limit{true, 2s}.until(environment(), time.now())), time.now() + 2s);
  EXPECT_EQ((wait_limit{false, {}}.until(environment(), time.now())),
            time.now() + environment().longest_call());
  EXPECT_EQ((wait_limit{true, std::chrono::nanoseconds::max()}.until(environment(), time.now())),
            client_layer::instant::max());
}

TEST_F(call_test, without_an_answer_it_is_empty_or_the_reason_is_thrown) {
  const error contended{errc::contention, "locked"};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(without_answer({true, 2s}, {}), std::nullopt);
  EXPECT_EQ(without_answer({true, 2s}, contended), errc::contention);
  EXPECT_EQ(without_answer({true, 2s}, contended, stop.get_token()), std::nullopt) << "it was stopped";
  EXPECT_EQ(without_answer({true, {}}, contended, stop.get_token()), errc::cancelled);
  EXPECT_EQ(without_answer({false, {}}, {}), errc::unreachable);
  EXPECT_EQ(without_answer({false, {}}, contended), errc::contention);
}

TEST_F(call_test, a_wait_that_is_long_enough_has_a_reason_for_silence) {
  EXPECT_FALSE((wait_limit{true, {}}.reason_of_silence()));
  EXPECT_FALSE((wait_limit{false, {}}.reason_of_silence()));
  EXPECT_FALSE((wait_limit{true, 1ms}.reason_of_silence()));
  EXPECT_TRUE((wait_limit{true, 1h}.reason_of_silence()));
}

}  // namespace
}  // namespace rowlock::test
