#include "client/connection/dialer.hpp"

#include "client/base/promised.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace rowlock::client_layer {

namespace {

using namespace std::chrono_literals;

// If a name server does not answer, each attempt costs a thread until the resolver gives up.
constexpr int left_behind_at_most = 3;
// An interrupted attempt usually ends at once, and reports why it had hung.
constexpr auto last_words = 50ms;

}  // namespace

std::unique_ptr<store::session> dialer::connect(std::shared_ptr<store::database> database) {
  auto& all = *exchange_;
  const auto until = environment_.time.now() + environment_.settings.connect_timeout;
  const auto one = std::make_shared<attempt>();
  model::annotated_lock lock{all.mutex};
  while (all.left_behind >= left_behind_at_most && !all.closed && environment_.time.now() < until) {
    environment_.time.wait_until(lock, all.changed, until);
  }
  if (all.closed) throw error(errc::unreachable, "the client is closed");
  if (all.left_behind >= left_behind_at_most) {
    throw error(
        errc::unreachable,
        fmt::format(
            "{} earlier attempts to connect still hang; the next one is made when one of them has ended",
            all.left_behind));
  }
  lock.unlock();
  try {
    all.threads.start(
        "rowlock-dial", [raw = &all, one, database = std::move(database)] { raw->dial(*database, *one); },
        exchange_);
  } catch (const std::system_error& failure) {
    throw error(errc::unreachable,
                fmt::format("cannot start a thread for an attempt to connect: {}", failure.what()));
  }
  lock.lock();
  while (!all.of(*one).is_over && !all.closed && environment_.time.now() < until) {
    environment_.time.wait_until(lock, all.changed, until);
  }
  if (!all.of(*one).is_over) {
    lock.unlock();
    one->watch.interrupt();
    lock.lock();
    all.changed.wait_for(lock, environment_.time.patience(last_words),
                         [&]() ROWLOCK_REQUIRES(all.mutex) { return all.of(*one).is_over; });
    if (!all.of(*one).is_over) {
      all.of(*one).is_left = true;
      ++all.left_behind;
    }
    throw too_late(all.of(*one), all.closed);
  }
  auto& ended = all.of(*one);
  if (ended.failure) std::rethrow_exception(std::exchange(ended.failure, nullptr));
  return std::move(ended.made);
}

// Runs in the attempt's own thread.
void dialer::exchange::dial(store::database& database, attempt& one) {
  std::unique_ptr<store::session> made;
  std::exception_ptr failure;
  try {
    made = database.connect(one.watch);
  } catch (...) {
    failure = std::current_exception();
  }
  const model::annotated_lock lock{mutex};
  auto& ended = of(one);
  ended.is_over = true;
  if (ended.is_left) {
    --left_behind;
  } else {
    ended.made = std::move(made);
    ended.failure = std::move(failure);
  }
  changed.notify_all();
}

error dialer::too_late(const result& one, bool closed) const {
  if (closed) return {errc::unreachable, "the client is closed"};
  auto said = one.failure ? copy_of(one.failure) : error(errc::unreachable, "it hangs");
  return {errc::unreachable,
          fmt::format("connecting took longer than the connect_timeout of {} ms: {}",
                      environment_.settings.connect_timeout.count(), said.what()),
          said.database_code()};
}

void dialer::close() {
  const model::annotated_lock lock{exchange_->mutex};
  exchange_->closed = true;
  exchange_->changed.notify_all();
}

}  // namespace rowlock::client_layer
