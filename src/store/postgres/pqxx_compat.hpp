// libpqxx 6.4 and 7.x, where they differ.
#pragma once

#include <pqxx/pqxx>

#include <string>

namespace rowlock::store::pqxx_compat {

// Prepares on the server now. (6.x alone would wait for the first use, which EXECUTE is not.)
inline void prepare(pqxx::connection& connection, const std::string& name, const std::string& sql) {
  connection.prepare(name, sql);
#if PQXX_VERSION_MAJOR < 7
  connection.prepare_now(name);
#endif
}

// 6.x opens a new connection in silence when the old one broke: without our settings, and without telling us.
inline void stay_broken([[maybe_unused]] pqxx::connection& connection) {
#if PQXX_VERSION_MAJOR < 7
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
#endif
}

// These three carry no SQLSTATE of their own in 6.x.
inline std::string sqlstate(const pqxx::failure& failure) {
  if (const auto* said = dynamic_cast<const pqxx::sql_error*>(&failure)) {
    if (!said->sqlstate().empty()) return said->sqlstate();
  }
  if (dynamic_cast<const pqxx::serialization_failure*>(&failure)) return "40001";
  if (dynamic_cast<const pqxx::deadlock_detected*>(&failure)) return "40P01";
  if (dynamic_cast<const pqxx::insufficient_privilege*>(&failure)) return "42501";
  return {};
}

}  // namespace rowlock::store::pqxx_compat
