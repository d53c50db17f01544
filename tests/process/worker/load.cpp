#include "load.hpp"

#include "ledger.hpp"

#include <rowlock/error.hpp>
#include <rowlock/mutex.hpp>

#include <deque>
#include <memory>
#include <sstream>

namespace rowlock::test {

load::load(const client& db, load_plan plan) : plan_{std::move(plan)} {
  for (int i = 0; i < plan_.threads; ++i) threads_.emplace_back([this, db, i] { run(db, i); });
}

load::~load() {
  halt();
  join();
}

void load::join() {
  for (auto& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

std::string load::report() const {
  std::ostringstream text;
  const std::lock_guard lock{mutex_};
  text << "granted=" << granted_ << " written=" << written_ << " lost=" << lost_ << " unaware=" << unaware_
       << " broken=" << broken_ << " unreleased=" << unreleased_ << " failed=" << failed_ << ' '
       << what_failed_;
  return text.str();
}

void load::failed(const std::string& what) {
  ++failed_;
  const std::lock_guard lock{mutex_};
  if (what_failed_.empty()) what_failed_ = what;
}

void load::run(const client& db, int index) {
  std::deque<mutex> locks;
  for (const auto& name : plan_.names) locks.emplace_back(db, name);
  std::unique_ptr<sql_session> session;
  const auto stop = halt_.get_token();
  for (int round = 0; !stop.stop_requested() && (plan_.rounds == 0 || round < plan_.rounds); ++round) {
    try {
      auto held = locks[static_cast<std::size_t>(index + round) % locks.size()].acquire({.stop = stop});
      ++granted_;
      try {
        if (!session) session = sql_session::open(plan_.url);
        ledger book{*session, plan_.prefix};
        plan_.guarded ? book.add_guarded(held) : book.add_unguarded(held);
        ++written_;
      } catch (const error& refusal) {
        // The hold says lost before anybody else can be granted: the guard must not know it first.
        if (refusal.code() == errc::hold_lost && held.valid()) ++unaware_;
        if (refusal.code() != errc::hold_lost) session.reset();
      } catch (const std::exception&) {
        ++broken_;
        session.reset();
      }
      const auto result = held.release();
      if (result == release_result::lost) ++lost_;
      if (result == release_result::pending || result == release_result::unknown) ++unreleased_;
    } catch (const error& refusal) {
      if (refusal.code() != errc::cancelled) failed(refusal.what());
    }
  }
}

}  // namespace rowlock::test
