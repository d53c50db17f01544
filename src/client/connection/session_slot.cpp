#include "client/connection/session_slot.hpp"

#include "client/base/settings.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::client_layer {

session_slot::busy::busy(session_slot& slot) : slot_(slot) {
  const auto& settings = slot.environment_.settings;
  const auto until = slot.environment_.time.now() + settings.statement_timeout + answer_grace(settings);
  slot.overdue_at_.store(std::min(until, slot.until_).time_since_epoch().count());
}

session_slot::busy::~busy() {
  slot_.overdue_at_.store(0);
}

session_slot::session_slot(client_environment& environment, connector connect, ghost_kind leaves)
    : environment_(environment), connect_(std::move(connect)), leaves_(leaves) {}

store::session& session_slot::ready() {
  if (!own_session()) connect();
  return *own_session();
}

void session_slot::check_time() const {
  if (environment_.time.now() < std::min(until_, begins_until_)) return;
  throw error(errc::contention, "the time limit of the call passed before all of it was sent");
}

void session_slot::connect() {
  check_time();
  auto made = connect_();
  if (connected_before_) {
    environment_.count.reconnects.fetch_add(1);
    environment_.log(log_level::info, "reconnected to the database");
  }
  connected_before_ = true;
  const busy mark{*this};
  {
    const model::annotated_lock lock{mutex_};
    session_ = std::move(made);
  }
  try {
    if (on_connect) on_connect(*own_session());
  } catch (...) {
    drop(false);
    throw;
  }
  connected_.store(true);
}

bool session_slot::end_ghosts() {
  if (environment_.ghosts.empty()) return true;
  store::session& session = ready();
  // A ghost that cannot be seen (behind a pooler) is over when the server's own timeouts have passed.
  const auto fading = 2 * environment_.settings.statement_timeout;
  for (const auto& one : environment_.ghosts.all()) {
    const busy mark{*this};
    bool gone = false;
    try {
      gone = session.end_ghost(one.backend);
    } catch (const error& failure) {
      if (failure.code() == errc::unreachable) {
        note(failure);
        throw;
      }
      environment_.log(log_level::debug, "cannot terminate the backend of a broken connection: {}",
                       failure.what());
    }
    if (gone) {
      environment_.ghosts.remove(one);
    } else if (environment_.time.now() > one.broke_at + fading) {
      environment_.ghosts.forget(one);
    }
  }
  return environment_.ghosts.empty();
}

// On contention the backend of the previous connection is ended, because it may be what keeps a row locked.
void session_slot::note(const error& failure) noexcept {
  switch (failure.kind()) {
    case errc::unreachable: drop(true); break;
    case errc::read_only: drop(false); break;
    case errc::contention:
      if (harmless_.empty()) break;
      try {
        if (own_session()->end_ghost(harmless_)) harmless_.clear();
      } catch (const std::exception&) {
        // The next contention tries again.
      }
      break;
    default: break;
  }
}

void session_slot::drop(bool leaves_ghost) noexcept {
  connected_.store(false);
  std::unique_ptr<store::session> broken;
  {
    const model::annotated_lock lock{mutex_};
    broken = std::move(session_);
  }
  if (!broken || !leaves_ghost) return;
  try {
    auto backend = broken->backend();
    if (leaves_ == ghost_kind::harmless) {
      harmless_ = std::move(backend);
    } else if (!backend.empty()) {
      environment_.ghosts.add({std::move(backend), environment_.time.now()});
    }
  } catch (...) {
    if (leaves_ == ghost_kind::grants) environment_.ghosts.could_not_add();
  }
}

void session_slot::close() noexcept {
  drop(false);
}

bool session_slot::wait(std::chrono::nanoseconds timeout, interest whose) {
  const bool anew = !own_session();
  store::session& session = ready();
  // The new connection has missed what came while there was none.
  if (anew) return true;
  try {
    switch (whose) {
      case interest::nobody: return session.wait_idle(timeout);
      case interest::holders: return session.wait_holding(timeout);
      case interest::waiters: break;
    }
    return session.wait(timeout);
  } catch (const error& failure) {
    note(failure);
    throw;
  }
}

std::vector<model::hold_id> session_slot::woken_waiters() {
  auto* session = own_session();
  return session ? session->woken_waiters() : std::vector<model::hold_id>{};
}

void session_slot::end_wait() noexcept {
  const model::annotated_lock lock{mutex_};
  if (session_) session_->end_wait();
}

void session_slot::interrupt_overdue(instant now) noexcept {
  const auto overdue_at = overdue_at_.load();
  if (overdue_at == 0 || now.time_since_epoch().count() < overdue_at) return;
  interrupt();
}

void session_slot::interrupt() noexcept {
  const model::annotated_lock lock{mutex_};
  if (session_) session_->interrupt();
}

}  // namespace rowlock::client_layer
