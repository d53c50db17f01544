// A list of objects that are linked through themselves, so that adding one needs no memory.
#pragma once

#include <rowlock/config.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace rowlock::client_layer {

// Not thread-safe. Requires: an object is in at most one list at a time that uses the same link.
template <class T, std::shared_ptr<T> T::*link = &T::next_in_list>
class linked_list {
 public:
  using value_type = std::shared_ptr<T>;

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::shared_ptr<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    const_iterator() = default;
    explicit const_iterator(const value_type* at) : at_(at) {}
    reference operator*() const { return *at_; }
    pointer operator->() const { return at_; }
    const_iterator& operator++() {
      const auto& next = (**at_).*link;
      at_ = next ? &next : nullptr;
      return *this;
    }
    const_iterator operator++(int) {
      const auto before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    const value_type* at_ = nullptr;
  };
  using iterator = const_iterator;

  linked_list() = default;
  linked_list(linked_list&& other) noexcept { swap(other); }
  linked_list& operator=(linked_list&& other) noexcept {
    linked_list taken{std::move(other)};
    swap(taken);
    return *this;
  }
  // One by one: a chain that destroys itself would need a deep stack.
  ~linked_list() {
    while (!empty()) pop();
  }

  bool empty() const noexcept { return !first_; }
  std::size_t size() const noexcept { return size_; }
  const_iterator begin() const noexcept { return const_iterator{first_ ? &first_ : nullptr}; }
  const_iterator end() const noexcept { return const_iterator{}; }

  void push(std::shared_ptr<T> one) noexcept {
    T* const raw = one.get();
    (last_ ? last_->*link : first_) = std::move(one);
    last_ = raw;
    ++size_;
  }
  // Requires: it is not empty.
  std::shared_ptr<T> pop() noexcept {
    auto taken = std::move(first_);
    first_ = std::move((*taken).*link);
    if (!first_) last_ = nullptr;
    --size_;
    return taken;
  }
  void append(linked_list&& more) noexcept {
    while (!more.empty()) push(more.pop());
  }

 private:
  void swap(linked_list& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
    std::swap(size_, other.size_);
  }

  std::shared_ptr<T> first_;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rowlock::client_layer
