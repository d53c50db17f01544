#include "bench/own_tables.hpp"

namespace rowlock::bench {

namespace {

plan plan_with(plan one, const std::string& name) {
  if (is_sqlite(one)) {
    one.url += "-" + name;
  } else {
    one.settings.prefix += name + "_";
  }
  return one;
}

}  // namespace

own_tables::own_tables(const plan& usual, const std::string& name) : plan_{plan_with(usual, name)} {
  rowlock::migrator{plan_.url, plan_.settings}.up();
  floor_ = open_floor(plan_);
  client_.emplace(rowlock::connect(plan_.url, plan_.settings));
}

own_tables::~own_tables() {
  client_->close();
  try {
    rowlock::migrator{plan_.url, plan_.settings}.down(0, true);
    floor_->drop_remains();
  } catch (const std::exception& failure) {
    if (plan_.settings.log) plan_.settings.log(rowlock::log_level::warning, failure.what());
  }
}

}  // namespace rowlock::bench
