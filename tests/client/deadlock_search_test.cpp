#include "client/worker/deadlock_search.hpp"

#include "client/client_test.hpp"
#include "support/background.hpp"

namespace rowlock::test {
namespace {

class deadlock_search_test : public virtual_client_test {
 protected:
  // Runs one step as a worker does.
  void run_step() {
    auto work = queue_.take(client_layer::worker_role::everything);
    ASSERT_EQ(work.tasks.size(), 1U);
    work.tasks.front()->work(*session_);
    work.tasks.front()->answer.complete(true);
    queue_.finish(work);
  }
  int reads() const { return faults.count("waited_for") + faults.count("show") + faults.count("queue"); }

  client_layer::client_environment shared_{calm(), time};
  client_layer::keeper_agenda agenda_;
  client_layer::submission_queue queue_{shared_, agenda_};
  client_layer::deadlock_search search_{shared_, queue_};
  std::unique_ptr<store::session> session_ = server->open()->connect();
};

// A release that shares the worker waits for the reading of one name at most.
TEST_F(deadlock_search_test, reads_one_name_a_step) {
  const client db = new_client();
  const std::vector<std::string> names{"a", "b", "c"};
  std::vector<hold> holds;
  std::vector<attempt> waiters;
  for (const auto& name : names) {
    holds.push_back(mutex(db, name).acquire());
    waiters.push_back(waiting(db, name));
  }
  std::uint64_t number = 0;
  auto found = in_background([&] { return search_.circle_of(1, number, {}, {}); });
  for (std::size_t step = 0; step <= names.size(); ++step) {
    const auto before = reads();
    ASSERT_NO_FATAL_FAILURE(run_step());
    ASSERT_LE(reads() - before, 2) << "in step " << step;
  }
  EXPECT_TRUE(found.get().empty());
  EXPECT_EQ(number, 1U);
  EXPECT_EQ(faults.count("queue"), 3);
}

}  // namespace
}  // namespace rowlock::test
