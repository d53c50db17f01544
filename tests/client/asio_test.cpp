// Tests rowlock/asio.hpp with Boost.Asio. Standalone Asio has the same functions in another namespace.
#include <rowlock/asio.hpp>

#include "client/client_test.hpp"

#include <rowlock/async.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace rowlock::test {
namespace {

class asio_test : public client_test {
 protected:
  // Runs the loop until the wait is over.
  acquired settled(const executor& on) {
    std::optional<acquired> got;
    acquire_async(on, mutex{db, "a"}, [&](acquired one) {
      thread_ = std::this_thread::get_id();
      got = std::move(one);
    });
    while (!got) loop.run_one_for(60s);
    return std::move(got).value();
  }

  boost::asio::io_context loop;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy{loop.get_executor()};
  std::thread::id thread_;
  client db = new_client();
};

TEST_P(asio_test, a_loop_delivers_on_its_thread) {
  const auto got = settled(asio_executor(loop.get_executor()));
  EXPECT_TRUE(got);
  EXPECT_EQ(thread_, std::this_thread::get_id());
}

TEST_P(asio_test, a_strand_and_a_type_erased_executor_deliver) {
  EXPECT_TRUE(settled(asio_executor(boost::asio::make_strand(loop))));
  EXPECT_TRUE(settled(asio_executor(boost::asio::any_io_executor{loop.get_executor()})));
}

TEST_P(asio_test, a_pool_delivers_and_what_it_drops_is_released) {
  {
    boost::asio::thread_pool pool{1};
    std::promise<bool> held;
    acquire_async(asio_executor(pool.get_executor()), mutex{db, "a"},
                  [&](const acquired& got) { held.set_value(got.hold.valid()); });
    EXPECT_TRUE(held.get_future().get());
    pool.join();
  }
  {
    boost::asio::io_context never_runs;
    std::atomic<bool> given{false};
    acquire_async(
        [&, post = asio_executor(never_runs.get_executor())](rowlock::task next) {
          post(std::move(next));
          given = true;
        },
        mutex{db, "b"}, [](const acquired&) { ADD_FAILURE() << "the loop does not run"; });
    ASSERT_TRUE(eventually([&] { return given.load(); }));
    EXPECT_TRUE(is_held("b"));
  }
  EXPECT_TRUE(eventually([&] { return !is_held("b"); }));
}

ROWLOCK_FOR_EACH_STORE(asio_test);

}  // namespace
}  // namespace rowlock::test
