#include "load.hpp"

#include "ledger.hpp"
#include "support/history_recorder.hpp"

#include <rowlock/rowlock.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>

namespace rowlock::test {

namespace {

using namespace std::chrono_literals;

// One thread: a caller that does one thing after another.
class actor {
 public:
  actor(client& db, const load_settings& settings, history_recorder& book, int number)
      : database_{db},
        settings_{settings},
        book_{book},
        name_{"thread " + std::to_string(number)},
        random_{static_cast<unsigned>(settings.seed) * 64 + static_cast<unsigned>(number)},
        pair_{db, settings.semaphore(), permits} {
    for (const auto& name : settings.mutexes()) mutexes_.emplace_back(db, name);
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      visit(any(0, static_cast<int>(mutexes_.size())), stop);
      std::this_thread::sleep_for(std::chrono::milliseconds{any(0, 10)});
    }
  }

 private:
  int any(int from, int to) { return std::uniform_int_distribution{from, to}(random_); }

  void visit(int which, const std::stop_token& stop) {
    const bool shares = static_cast<std::size_t>(which) == mutexes_.size();
    const auto name =
        shares ? settings_.semaphore() : settings_.mutexes().at(static_cast<std::size_t>(which));
    const auto capacity = shares ? permits : 1;
    const auto call = book_.requests(name, name_, 1, capacity);
    hold held;
    try {
      held = request(which, shares, {.stop = stop});
    } catch (const error& refusal) {
      book_.failed(name, name_, call);
      if (refusal.code() != errc::cancelled) note(refusal, name);
      std::this_thread::sleep_for(10ms);
      return;
    }
    if (!held) return book_.failed(name, name_, call);
    valid_at_ = book_.granted(held, name_, call, capacity);
    // A fault must have time to meet a holder that has yet to write.
    stay(held, settings_.fault == planted::unguarded ? 60 : any(1, 8));
    if (any(1, 5) == 1) look(name);
    const auto written = write(held, shares);
    stay(held, any(1, 8));
    if (settings_.fault == planted::deaf) valid_at_ = history_recorder::now();
    book_.releases(held, name_, valid_at_);
    if (written) book_.notes("worked", held);
  }

  hold request(int which, bool shares, const acquire_options& how) {
    const std::chrono::milliseconds limit = any(1, 4) == 1 ? 20ms : 5'000ms;
    if (shares) return pair_.try_acquire_for(limit, 1, how);
    return mutexes_.at(static_cast<std::size_t>(which)).try_acquire_for(limit, how);
  }

  // Keeps the hold for a while, and remembers when the hold was valid for the last time.
  void stay(const hold& held, int milliseconds) {
    for (int left = milliseconds; left > 0; --left) {
      const auto at = history_recorder::now();
      if (!held.valid()) return;
      valid_at_ = at;
      std::this_thread::sleep_for(1ms);
    }
  }

  void look(const std::string& name) {
    try {
      book_.state(database_, name);
    } catch (const error& refusal) {
      note(refusal, name);
    }
  }

  // Writes under the hold. False: the write may not have happened.
  bool write(const hold& held, bool shares) {
    try {
      if (!session_) session_ = sql_session::open(settings_.application_url);
      ledger book{*session_, settings_.ledger_prefix()};
      if (shares) {
        session_->begin();
        try {
          session_->guard(held);
        } catch (...) {
          session_->run("ROLLBACK");
          throw;
        }
        session_->run("COMMIT");
      } else if (settings_.fault == planted::unguarded) {
        book.add_unguarded(held);
      } else {
        book.add_guarded(held);
      }
      if (!shares) book_.notes("written", held);
      return true;
    } catch (const error& refusal) {
      if (refusal.database_code() == "40001") {
        book_.notes("failed", held.name(), refusal.what());  // an application repeats the transaction
      } else if (refusal.code() != errc::hold_lost) {
        note(refusal, held.name());
      } else {
        // The holder must know of the loss before the lock is granted again. So the guard must not be the first to
        // know.
        book_.notes(held.valid() ? "unaware" : "refused", held);
      }
    } catch (const std::exception&) {
      // The application's own connection broke, maybe after its commit.
      session_.reset();
    }
    return false;
  }

  void note(const error& refusal, const std::string& name) {
    book_.notes(refusal.transient() ? "failed" : to_string(refusal.kind()), name, refusal.what());
  }

  admin database_;
  const load_settings& settings_;
  history_recorder& book_;
  const std::string name_;
  std::mt19937 random_;
  std::deque<mutex> mutexes_;
  counting_semaphore pair_;
  std::unique_ptr<sql_session> session_;
  std::int64_t valid_at_ = 0;
};

// The server may still be starting.
client connect_patiently(const load_settings& settings, history_recorder& book) {
  options how;
  how.ttl = settings.ttl;
  how.statement_timeout = settings.ttl / 3;
  how.connect_timeout = 2s;
  how.application = "rowlock faults";
  how.listen_url = settings.listen_url;
  const auto file =
      std::make_shared<std::ofstream>(settings.folder + '/' + std::to_string(::getpid()) + ".log");
  how.log = [file, &book, &settings](log_level level, std::string_view text) {
    const auto now = std::chrono::system_clock::now().time_since_epoch() / 1ms;
    if (level != log_level::debug) *file << now << ' ' << text << std::endl;
    // With its lease a client loses its places in queues, which the history does not show otherwise.
    if (text.starts_with("lease ") && text.find(" is lost") != std::string_view::npos) {
      book.notes("lease-lost", settings.semaphore());
    }
  };
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  for (;;) {
    try {
      return connect(settings.url, how);
    } catch (const error& refusal) {
      if (!refusal.transient() || std::chrono::steady_clock::now() > deadline) throw;
      std::this_thread::sleep_for(20ms);
    }
  }
}

constexpr planted all_planted[] = {planted::nothing, planted::unguarded, planted::deaf};

}  // namespace

const char* to_string(planted what) noexcept {
  switch (what) {
    case planted::nothing: return "nothing";
    case planted::unguarded: return "unguarded";
    case planted::deaf: return "deaf";
  }
  return "";
}

std::vector<std::string> load_settings::names() const {
  auto all = mutexes();
  all.push_back(semaphore());
  return all;
}

std::string load_settings::ledger_prefix() const {
  auto prefix = row + '_';
  std::ranges::replace(prefix, '-', '_');
  return prefix;
}

std::vector<std::string> words_of(const load_settings& settings) {
  return {worker_word,
          settings.url,
          settings.application_url,
          settings.row,
          settings.folder,
          std::to_string(settings.ttl.count()),
          std::to_string(settings.seed),
          to_string(settings.fault),
          settings.listen_url};
}

load_settings load_of(const std::vector<std::string>& words) {
  load_settings settings;
  settings.url = words.at(1);
  settings.application_url = words.at(2);
  settings.row = words.at(3);
  settings.folder = words.at(4);
  settings.ttl = std::chrono::milliseconds{std::stoll(words.at(5))};
  settings.seed = std::stoull(words.at(6));
  settings.listen_url = words.at(8);
  for (const auto one : all_planted) {
    if (words.at(7) == to_string(one)) settings.fault = one;
  }
  return settings;
}

int run_load(const load_settings& settings) try {
  // The signal is blocked before any thread is made, so that all threads leave it to this one.
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &end, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  // The history's ttl is the one by which the checker judges; it is longer, so that a slow machine is not taken for a
  // fault.
  history_recorder book{settings.folder, settings.ttl + 5s};
  auto db = connect_patiently(settings, book);
  {
    std::deque<actor> actors;
    std::vector<std::jthread> running;
    for (int number = 0; number < threads; ++number) {
      auto& one = actors.emplace_back(db, settings, book, number);
      running.emplace_back([&one](const std::stop_token& stop) { one.run(stop); });
    }
    int got = 0;
    ::sigwait(&end, &got);
    for (auto& one : running) one.request_stop();
  }
  db.close();
  return 0;
} catch (const std::exception& failure) {
  std::cerr << "a worker ends: " << failure.what() << '\n';
  return 1;
}

}  // namespace rowlock::test
