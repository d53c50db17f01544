#include "client/session_slot.hpp"

namespace rowlock::client_layer {

namespace {

// The server's own statement timeout comes first, so that a slow statement is told from a dead connection.
constexpr std::chrono::milliseconds grace{250};

}  // namespace

session_slot::busy::busy(session_slot& slot) : slot_(slot) {
  const auto timeout =
      std::min<std::chrono::nanoseconds>(slot.limit_, slot.shared_.settings.statement_timeout);
  const auto until = slot.shared_.time.now() + timeout + grace;
  slot.overdue_at_.store(until.time_since_epoch().count());
}

session_slot::busy::~busy() {
  slot_.overdue_at_.store(0);
}

session_slot::session_slot(context& shared, connector connect)
    : shared_(shared), connect_(std::move(connect)) {}

store::session& session_slot::ready() {
  if (!session_) connect();
  if (!ghosts_.empty()) end_ghosts();
  return *session_;
}

void session_slot::connect() {
  auto made = connect_();
  if (connected_before_) {
    shared_.count.reconnects.fetch_add(1);
    shared_.log(log_level::info, "reconnected to the database");
  }
  connected_before_ = true;
  const busy mark{*this};
  {
    const std::lock_guard lock{mutex_};
    session_ = std::move(made);
  }
  try {
    if (on_connect) on_connect(*session_);
  } catch (...) {
    drop();
    throw;
  }
  connected_.store(true);
}

void session_slot::end_ghosts() {
  const busy mark{*this};
  // A ghost that cannot be seen (through a pooler) is over when the server's own timeouts have passed.
  const auto fading = 2 * shared_.settings.statement_timeout;
  try {
    std::erase_if(ghosts_, [&](const ghost& g) {
      return session_->end_ghost(g.backend) || shared_.time.now() > g.broke_at + fading;
    });
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) drop();
    throw;
  }
  if (!ghosts_.empty()) {
    throw error(errc::contention,
                "a statement of a broken connection may still be running on the server; waiting for it");
  }
}

void session_slot::drop() noexcept {
  connected_.store(false);
  std::unique_ptr<store::session> broken;
  {
    const std::lock_guard lock{mutex_};
    broken = std::move(session_);
  }
  if (!broken) return;
  try {
    if (auto backend = broken->backend(); !backend.empty())
      ghosts_.push_back({std::move(backend), shared_.time.now()});
  } catch (...) {
    // Without memory for the ghost's name there is none for its statement either.
  }
}

bool session_slot::wait(std::chrono::nanoseconds timeout) {
  const bool anew = !session_;
  store::session& session = ready();
  // Whatever came while there was no connection is not heard by the new one.
  if (anew) return true;
  try {
    return session.wait(timeout);
  } catch (const error& failure) {
    if (failure.code() == errc::unreachable) drop();
    throw;
  }
}

void session_slot::wake() noexcept {
  const std::lock_guard lock{mutex_};
  if (session_) session_->wake();
}

void session_slot::interrupt_overdue(instant now) noexcept {
  const auto overdue_at = overdue_at_.load();
  if (overdue_at == 0 || now.time_since_epoch().count() < overdue_at) return;
  interrupt();
}

void session_slot::interrupt() noexcept {
  const std::lock_guard lock{mutex_};
  if (session_) session_->interrupt();
}

}  // namespace rowlock::client_layer
