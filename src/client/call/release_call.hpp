// The release of a hold, for a caller whose executor is to learn the result. A thread that waits for a
// release uses hold_releaser.
#pragma once

#include "client/call/call.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rowlock::client_layer {

// One caller uses it at a time, except leave(), which any thread may call.
class release_call : public call {
 public:
  using result = release_result;

  explicit release_call(engine& on) : call(on) {}

  // Call it before submit(). hold: null if there is nothing to release; then the result is `otherwise`.
  void set(hold_ptr hold, release_result otherwise) noexcept {
    hold_ = std::move(hold);
    otherwise_ = otherwise;
    until_ = later(on().environment().time.now(), on().environment().settings.close_timeout);
  }

  promised<release_result>& answer() noexcept { return *answer_; }
  std::optional<instant> until() const noexcept { return until_; }
  void submit() noexcept {
    hold_ ? on().releaser().begin(*hold_, answer_) : void(answer_->complete(otherwise_));
  }
  // The release goes on.
  bool leave() noexcept { return answer_->give_up(); }
  bool drop() noexcept { return leave(); }
  release_result result_of(release_result answered) const noexcept { return answered; }
  release_result without_answer() const noexcept { return release_result::unknown; }
  std::string described() const { return "the result of a release"; }

 private:
  hold_ptr hold_;
  release_result otherwise_ = release_result::lost;
  std::optional<instant> until_;
  const release_answer answer_ = std::make_shared<promised<release_result>>();
};

}  // namespace rowlock::client_layer
