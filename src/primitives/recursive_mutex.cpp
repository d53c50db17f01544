#include <rowlock/recursive_mutex.hpp>

#include "primitives/standard_lock.hpp"

namespace rowlock::primitives {

namespace {

class recursive_lock final : public standard_lock {
 public:
  using standard_lock::standard_lock;

  // Returns one more hold of the lock that this thread already holds, or a new one.
  hold acquire(const wait_limit& how_long, const acquire_options& how) const override {
    engine().check_usable();
    auto held = entered();
    if (held && held->is_valid() && held->enter()) return access::make<hold>(std::move(held));
    held = client_layer::acquire(engine(), acquiring().exclusive(), how_long, how);
    auto made = access::make<hold>(held);  // releases it if memory runs out
    if (held) engine().entries().put(held);
    return made;
  }

  std::size_t depth() const {
    check_process();
    const auto held = entered();
    return held && held->is_valid() ? held->depth() : 0;
  }

 private:
  // The hold that this thread has entered. Null: none.
  client_layer::hold_ptr entered() const { return engine().entries().find(name()); }
  void check_lock() const override {}
};

}  // namespace

}  // namespace rowlock::primitives

ROWLOCK_BEGIN_NAMESPACE

recursive_mutex::recursive_mutex(client db, std::string name, const lock_options& lock)
    : exclusive_lock(std::make_unique<primitives::recursive_lock>(
          std::move(db), primitives::defined(std::move(name), lock_kind::mutex, 1, lock))) {}

std::size_t recursive_mutex::depth() const {
  return static_cast<const primitives::recursive_lock&>(primitives::access::lock(*this)).depth();
}

ROWLOCK_END_NAMESPACE
