// A server that does not answer, and the statements that it may execute afterwards.
#include "store/postgres_test.hpp"

#include "support/background.hpp"
#include "support/threads.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>

namespace rowlock::test {
namespace {

// Stops a process until this object is destroyed.
class stopped {
 public:
  explicit stopped(int pid) : pid_{pid} {
    if (::kill(pid, SIGSTOP) != 0) throw std::runtime_error("the backend cannot be stopped by this user");
  }
  ~stopped() { go_on(); }
  stopped(const stopped&) = delete;
  stopped& operator=(const stopped&) = delete;
  void go_on() { ::kill(pid_, SIGCONT); }

 private:
  int pid_;
};

class postgres_ghost_test : public postgres_test {
 protected:
  void SetUp() override {
    postgres_test::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    session_ = ready();
    broken_ = connect();
    create(*session_, "a");
    wanted_ = {"a", new_lease(*session_), hold_id::random()};
    // The statement is prepared first, so that it then takes one message only.
    ASSERT_TRUE(acquire(*broken_, wanted_));
    ASSERT_TRUE(release(*broken_, wanted_));
  }
  // Sends the acquire to a stopped backend, and gives up.
  error give_up() {
    std::atomic<bool> begins{false};
    auto outcome = in_background([&] {
      try {
        begins = true;
        acquire(*broken_, wanted_);
        return error(errc::internal, "answered");
      } catch (const error& thrown) {
        return thrown;
      }
    });
    while (!begins) std::this_thread::sleep_for(1ms);
    while (!std::ranges::all_of(other_threads(), &thread_state::sleeps)) std::this_thread::sleep_for(1ms);
    // The request was sent: the kernel holds bytes that the backend does not read.
    EXPECT_EQ(outcome.wait_for(50ms), std::future_status::timeout) << "a stopped backend answers nothing";
    while (outcome.wait_for(5ms) != std::future_status::ready) broken_->interrupt();
    return outcome.get();
  }
  store::hold_status::where state() {
    const store::hold_query query{"a", wanted_.hold};
    return session_->find({&query, 1}).front().state;
  }

  std::unique_ptr<store::session> session_, broken_;
  claim wanted_;
};

TEST_F(postgres_ghost_test, leaves_its_statement_in_doubt) {
  stopped backend{pid_of(*broken_)};
  const auto thrown = give_up();
  EXPECT_EQ(thrown.code(), errc::unreachable) << thrown.what();
  EXPECT_TRUE(thrown.outcome_unknown());
  // The second request was not sent.
  try {
    acquire(*broken_, wanted_);
    ADD_FAILURE();
  } catch (const error& again) {
    EXPECT_EQ(again.code(), errc::unreachable);
    EXPECT_FALSE(again.outcome_unknown());
  }
}

TEST_F(postgres_ghost_test, may_act_long_after_its_client_gave_up) {
  {
    stopped backend{pid_of(*broken_)};
    give_up();
    EXPECT_EQ(state(), store::hold_status::where::absent);
  }
  // The backend goes on and finds the statement that was sent to it.
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (state() == store::hold_status::where::absent && std::chrono::steady_clock::now() < deadline) {
    side_->run("SELECT pg_sleep(0.01)");
  }
  EXPECT_EQ(state(), store::hold_status::where::held) << "then there are no ghosts to end";
}

TEST_F(postgres_ghost_test, that_was_ended_does_nothing_any_more) {
  stopped backend{pid_of(*broken_)};
  give_up();
  EXPECT_FALSE(session_->end_ghost(broken_->backend())) << "stopped, it is not certainly gone";
  backend.go_on();
  EXPECT_TRUE(ends_ghost(*session_, broken_->backend()));
  EXPECT_EQ(state(), store::hold_status::where::absent);
  EXPECT_EQ(side_->value("SELECT count(*) FROM pg_stat_activity WHERE pid = $1",
                         {std::to_string(pid_of(*broken_))}),
            "0");
  // The ghost executed nothing, so the request may be sent again.
  EXPECT_TRUE(acquire(*session_, wanted_));
}

TEST_F(postgres_ghost_test, is_told_from_another_backend_with_its_number) {
  const auto backend = connect();
  const auto pid = std::to_string(pid_of(*backend));
  EXPECT_TRUE(session_->end_ghost(pid + " 1"));
  EXPECT_NO_THROW(backend->read_database_state()) << "another backend was ended";
}

TEST_F(postgres_ghost_test, ended_while_idle_breaks_its_wait) {
  broken_->listen(wanted_.lease);
  auto outcome = in_background([&] {
    try {
      while (broken_->wait(10s)) {
      }
      return errc::internal;
    } catch (const error& thrown) {
      return thrown.kind();
    }
  });
  EXPECT_TRUE(ends_ghost(*session_, broken_->backend()));
  EXPECT_EQ(outcome.get(), errc::unreachable);
}

}  // namespace
}  // namespace rowlock::test
