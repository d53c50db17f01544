// The dashboard: its pages at /, and beneath them what they read and do, as JSON.
#pragma once

#include "serve/database.hpp"
#include "serve/http.hpp"
#include "serve/lock_board.hpp"
#include "serve/router.hpp"
#include "serve/shared_readings.hpp"
#include "serve/upkeep.hpp"
#include "serve/workers.hpp"

#include <rowlock/doctor.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::serve {

class dashboard {
 public:
  struct environment {
    database& db;
    workers& pool;
    const upkeep_settings& upkeep;  // who holds the election does the upkeep
    const upkeep_counts& done;
    bool may_write = false;  // what the connection to the database allows
    std::function<std::vector<finding>()> diagnose;
    std::function<void(std::string_view)> note;  // a line for each action
  };

  // What the environment refers to must outlive this object, except the pool, see stop().
  explicit dashboard(const environment& in);

  void add_routes(router& to);
  // Requires: the server has stopped. After stop() the pool can be destroyed. It must be destroyed before this object,
  // which its jobs use.
  void stop() { board_.stop(); }

 private:
  // What an operator does to a lock. Returns the result as one word.
  using action = std::function<std::string(const client&, const request&, const nlohmann::json& body,
                                           const std::stop_token& stop)>;

  void add_readings(router& to);
  void add_action(router& to, const std::string& verb, workers& by, action act);

  void list(const request& from, const reply& to);
  void graph(const reply& to);
  response show(const std::string& name);
  response history(const std::string& name, std::size_t limit);
  response health();
  response page_of(const board_state& now, const std::string& after, std::size_t limit);
  response graph_of(const board_state& now);

  const environment in_;
  shared_readings readings_{in_.pool};
  lock_board board_{in_.db, in_.pool};
  // A request for a release waits for the holders, so it would keep readings and other actions waiting.
  workers asking_;
  workers actions_;
};

}  // namespace rowlock::serve
