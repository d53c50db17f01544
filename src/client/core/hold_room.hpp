// How many more holds a client may have. Both the holds that it has and those that its requests under way may
// still obtain count.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace rowlock::client_layer {

// Thread-safe.
class hold_room {
 public:
  // Keeps room for some holds while this object lives, unless free() is called. May outlive the client.
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
    // Several threads may call this at the same time; the room is freed once.
    void free() noexcept {
      if (const auto count = count_.exchange(0); count > 0) taken_->fetch_sub(count);
    }
    // The next two functions must not run at the same time as another call. Requires: the place is not empty.
    //
    // Keeps room for that many holds from now on. Nothing is checked if they are more than before: use this only for
    // holds that were present and end.
    void resize(std::size_t count) noexcept { taken_->fetch_add(count - count_.exchange(count)); }
    // Passes on the room for one of its holds.
    place split() noexcept {
      count_.fetch_sub(1);
      return {1, taken_};
    }

   private:
    friend class hold_room;
    place(std::size_t count, std::shared_ptr<std::atomic<std::size_t>> taken)
        : count_(count), taken_(std::move(taken)) {}

    std::atomic<std::size_t> count_{0};
    std::shared_ptr<std::atomic<std::size_t>> taken_;
  };

  // Returns an empty place if the present holds, the places taken and `wanted` together are more than `most`.
  // A request keeps its place until its hold is present. So this function takes the place first and counts
  // the present holds afterwards: a hold that becomes present in between counts twice, but none is left out.
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
