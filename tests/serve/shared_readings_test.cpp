// Readings that clients share, when the memory runs out.
#include "serve/shared_readings.hpp"

#include "serve/workers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <new>

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

// Takes one whole response, or has no memory for it.
class response_target : public serve::reply_target {
 public:
  explicit response_target(bool has_memory) : has_memory_{has_memory} {}

  void put(serve::response whole) override {
    got.set_value(std::move(whole));
    if (!has_memory_) throw std::bad_alloc{};
  }
  void begin_stream(serve::response) override {}
  bool put_part(std::string) override { return true; }
  void end_stream() override {}

  std::promise<serve::response> got;

 private:
  bool has_memory_;
};

class shared_readings_test : public testing::Test {
 protected:
  ~shared_readings_test() override { pool_.reset(); }

  std::string ask(bool has_memory) {
    const auto target = std::make_shared<response_target>(has_memory);
    auto answer = target->got.get_future();
    readings_.answer(
        "key", 0ms, [this] { return serve::response{.body = std::to_string(++read_)}; },
        serve::reply{target, {}});
    return answer.wait_for(60s) == std::future_status::ready ? answer.get().body : "no answer";
  }

 private:
  int read_ = 0;
  std::unique_ptr<serve::workers> pool_ = std::make_unique<serve::workers>(1, 10);
  serve::shared_readings readings_{*pool_};
};

TEST_F(shared_readings_test, goes_on_when_there_is_no_memory_for_an_answer) {
  EXPECT_EQ(ask(false), "1");
  EXPECT_EQ(ask(true), "2");
}

}  // namespace
}  // namespace rowlock::test
