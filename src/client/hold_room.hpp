// How many more holds a client may have: those that it has, and those that its requests under way may still obtain, all
// count.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe.
class hold_room {
 public:
  // Room for some holds, until it ends. May outlive the client.
  class place {
   public:
    place() = default;
    place(place&& other) noexcept : count_(other.count_.exchange(0)), taken_(std::move(other.taken_)) {}
    place& operator=(place&& other) noexcept {
      free();
      count_.store(other.count_.exchange(0));
      taken_.swap(other.taken_);
      return *this;
    }
    ~place() { free(); }
    explicit operator bool() const noexcept { return taken_ != nullptr; }
    // Any threads may call it at once; it frees the room once.
    void free() noexcept {
      if (const auto count = count_.exchange(0); count > 0) taken_->fetch_sub(count);
    }

   private:
    friend class hold_room;
    place(std::size_t count, std::shared_ptr<std::atomic<std::size_t>> taken)
        : count_(count), taken_(std::move(taken)) {}

    std::atomic<std::size_t> count_{0};
    std::shared_ptr<std::atomic<std::size_t>> taken_;
  };

  // Empty: the holds that are present, those under way and `wanted` are more than `most`. A request keeps its place until
  // its hold is among those present. So those are counted afterwards: one that becomes present meanwhile counts twice,
  // and never not at all.
  template <class CountPresent>
  place take(std::size_t wanted, CountPresent present, std::size_t most) const {
    const auto before = taken_->fetch_add(wanted);
    place made{wanted, taken_};
    if (wanted > most || before + present() > most - wanted) return {};
    return made;
  }
  std::size_t taken() const noexcept { return taken_->load(); }

 private:
  std::shared_ptr<std::atomic<std::size_t>> taken_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace rowlock::client_layer
