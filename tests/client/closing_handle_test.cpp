#include "client/call/closing_handle.hpp"

#include "client/engine.hpp"
#include "support/virtual_time.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <memory>

namespace rowlock::test {
namespace {

class closing_handle_test : public testing::Test {
 protected:
  bool is_closed() const {
    try {
      engine->check_usable();
    } catch (const error& thrown) {
      return thrown.code() == errc::closed;
    }
    return false;
  }

  virtual_time time;
  const std::shared_ptr<client_layer::engine> engine =
      std::make_shared<client_layer::engine>(client_layer::database_source{}, options{}, time);
};

TEST_F(closing_handle_test, the_last_handle_closes_the_client) {
  auto handle = client_layer::closing_handle(engine);
  EXPECT_EQ(handle.get(), engine.get());
  auto copy = handle;
  handle.reset();
  EXPECT_FALSE(is_closed());
  copy.reset();
  EXPECT_TRUE(is_closed());
}

TEST_F(closing_handle_test, the_engine_gives_another_while_there_is_one) {
  EXPECT_EQ(engine->handle(), nullptr);
  auto handle = client_layer::closing_handle(engine);
  auto other = engine->handle();
  EXPECT_EQ(other, handle);
  handle.reset();
  EXPECT_FALSE(is_closed());
  other.reset();
  EXPECT_TRUE(is_closed());
  EXPECT_EQ(engine->handle(), nullptr);
}

TEST_F(closing_handle_test, keeps_the_engine_alive) {
  auto other = std::make_shared<client_layer::engine>(client_layer::database_source{}, options{}, time);
  const std::weak_ptr<client_layer::engine> watched = other;
  auto handle = client_layer::closing_handle(std::move(other));
  EXPECT_FALSE(watched.expired());
  handle.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(closing_handle_test, in_a_forked_child_the_last_handle_does_nothing) {
  auto handle = client_layer::closing_handle(engine);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    handle.reset();
    bool says_forked = false;
    try {
      engine->check_usable();
    } catch (const error& thrown) {
      says_forked = thrown.code() == errc::forked;
    }
    ::_exit(says_forked && engine.use_count() == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the parent's engine is kept, and not closed";
  EXPECT_FALSE(is_closed());
}

}  // namespace
}  // namespace rowlock::test
