#include "visit_task.hpp"

#include <rowlock/election.hpp>

#include <unistd.h>

#include <optional>

namespace rowlock::test {

namespace {

// Proclaims its token as the value of its term. Nobody may ever see that value together with another token.
class election_task final : public visit_task {
 public:
  election_task(const load_plan& plan, tally& counts, int index)
      : visit_task{plan, counts, index}, office_{db(), plan.names.at(0)} {}

 private:
  void enter(const std::stop_token& stop) override {
    const auto seen = office_.observe();
    if (!seen.value.empty() && seen.value != seen.token.to_string()) ++counts().wrong;
    term_ = office_.campaign({.stop = stop});
  }
  bool is_valid() const override { return term_.valid(); }
  std::vector<visit> holds() const override {
    const auto& held = term_.office();
    return {{held.name(), held.id().to_string(), held.token().value(), held.weight()}};
  }
  void work() override {
    expect("");
    const auto value = term_.token().to_string();
    term_.proclaim(value);
    expect(value);
  }
  void leave() override {
    count(term_.resign());
    term_ = {};
  }

  void expect(const std::string& value) {
    const auto seen = office_.observe();
    if (!is_valid()) return;
    if (seen.token != term_.token() || seen.pid != ::getpid() || seen.value != value) ++counts().wrong;
  }

  election office_;
  term term_;
};

}  // namespace

std::unique_ptr<task> make_election_task(const load_plan& plan, tally& counts, int index) {
  return std::make_unique<election_task>(plan, counts, index);
}

}  // namespace rowlock::test
