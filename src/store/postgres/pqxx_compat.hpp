// Hides what differs between libpqxx 6.4, 7.x and 8.0. 7.10 has the successors of what 8 has removed.
#pragma once

#include <libpq-fe.h>
#include <pqxx/pqxx>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#define ROWLOCK_PQXX_HAS_PARAMS \
  (PQXX_VERSION_MAJOR > 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR >= 10))

namespace rowlock::store::pqxx_compat {

#if PQXX_VERSION_MAJOR < 7
// 6.x takes an existing connection only from its connection policy, and creates the policy itself.
class adopting : public pqxx::connectionpolicy {
 public:
  using connectionpolicy::connectionpolicy;
  handle do_startconnect(handle before) override { return before ? before : std::exchange(given(), nullptr); }
  static handle& given() {
    thread_local handle made = nullptr;
    return made;
  }
};
using connection = pqxx::basic_connection_base<adopting>;
#else
using connection = pqxx::connection;
#endif

// Takes over a connection that libpq has made.
inline std::unique_ptr<connection> adopt(PGconn* made) {
#if PQXX_VERSION_MAJOR < 7
  adopting::given() = made;
  return std::make_unique<connection>();
#else
  return std::make_unique<connection>(connection::seize_raw_connection(made));
#endif
}

// Prepares on the server now. (6.x would wait for the first use, and does not count EXECUTE as one.)
inline void prepare(connection& on, const std::string& name, const std::string& sql) {
  on.prepare(name, sql);
#if PQXX_VERSION_MAJOR < 7
  on.prepare_now(name);
#endif
}

template <class... Args>
pqxx::result exec_prepared(pqxx::transaction_base& work, const std::string& name, Args&&... args) {
#if ROWLOCK_PQXX_HAS_PARAMS
  return work.exec(pqxx::prepped{name}, pqxx::params{std::forward<Args>(args)...});
#else
  return work.exec_prepared(name, std::forward<Args>(args)...);
#endif
}

// Listens on a channel, and adds the payloads that arrive to `heard`, which must outlive the connection's
// last statement. Before 7.10 a receiver's destructor sends UNLISTEN.
#if ROWLOCK_PQXX_HAS_PARAMS
class receiver {
 public:
  receiver(connection& on, const std::string& channel, std::vector<std::string>& heard) {
    on.listen(channel, [&heard](pqxx::notification told) { heard.emplace_back(told.payload); });
  }
};
#else
class receiver : public pqxx::notification_receiver {
 public:
  receiver(connection& on, const std::string& channel, std::vector<std::string>& heard)
      : notification_receiver{on, channel}, heard_{heard} {}
  void operator()(const std::string& payload, int /*pid*/) override { heard_.push_back(payload); }

 private:
  std::vector<std::string>& heard_;
};
#endif

// 6.x silently opens a new connection after the old one broke, without our settings.
inline void stay_broken([[maybe_unused]] connection& kept) {
#if PQXX_VERSION_MAJOR < 7
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  kept.inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
}

// In 6.x the three exceptions below carry no SQLSTATE of their own.
inline std::string sqlstate(const pqxx::failure& failure) {
  if (const auto* said = dynamic_cast<const pqxx::sql_error*>(&failure)) {
    if (!said->sqlstate().empty()) return std::string{said->sqlstate()};  // 8 returns a string_view
  }
  if (dynamic_cast<const pqxx::serialization_failure*>(&failure)) return "40001";
  if (dynamic_cast<const pqxx::deadlock_detected*>(&failure)) return "40P01";
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&failure)) return "42501";
  return {};
}

}  // namespace rowlock::store::pqxx_compat
