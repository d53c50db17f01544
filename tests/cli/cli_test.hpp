// The rowlock command over a fresh, migrated database of each SQL store.
#pragma once

#include "cli/command_process.hpp"
#include "support/process_handle.hpp"
#include "support/roles.hpp"
#include "support/sql_stores.hpp"
#include "support/store_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rowlock::test {

using words = std::vector<std::string>;

// Starts a program with nothing of rowlock's in its environment except what is given.
inline std::unique_ptr<command_process> start_program(const std::string& path, words arguments,
                                                      std::map<std::string, std::string> environment) {
  arguments.insert(arguments.begin(), path);
  for (const char* name : {"ROWLOCK_URL", "ROWLOCK_URL_FILE", "ROWLOCK_PREFIX", "ROWLOCK_SCHEMA",
                           "ROWLOCK_NAME", "ROWLOCK_TOKEN", "ROWLOCK_HOLD"}) {
    environment.try_emplace(name, "");
  }
  return std::make_unique<command_process>(arguments, environment);
}

inline std::unique_ptr<command_process> start_rowlock(const words& arguments,
                                                      const std::map<std::string, std::string>& environment) {
  return start_program(ROWLOCK_COMMAND_PATH, arguments, environment);
}

inline command_result rowlock_alone(const words& arguments,
                                    const std::map<std::string, std::string>& environment = {}) {
  return start_rowlock(arguments, environment)->wait();
}

// What a command line does, according to the first of its words that names a subcommand.
inline role_use use_of(const words& arguments) {
  static const std::map<std::string, role_use> uses{
      {"list", role_use::observe},   {"show", role_use::observe},    {"queue", role_use::observe},
      {"doctor", role_use::operate}, {"sweep", role_use::operate},   {"gc", role_use::operate},
      {"epoch", role_use::operate},  {"release", role_use::operate}, {"migrate", role_use::migrate}};
  for (const auto& word : arguments) {
    if (word == "--" || word == "--receipt") break;
    if (const auto found = uses.find(word); found != uses.end()) return found->second;
    if (word == "run" || word == "acquire" || word == "elect") break;
  }
  return role_use::run;
}

// What a command has printed, without its reports that it waits. If the machine pauses, even a short wait is reported.
inline std::string without_wait_reports(std::string said) {
  const std::string report = "rowlock: waiting for ";
  for (std::size_t begin = 0; begin < said.size();) {
    const auto end = std::min(said.find('\n', begin), said.size() - 1) + 1;
    if (said.compare(begin, report.size(), report) == 0) {
      said.erase(begin, end - begin);
    } else {
      begin = end;
    }
  }
  return said;
}

class cli_test : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<store_fixture> store = borrow_store_fixture(GetParam());

  std::map<std::string, std::string> environment() const {
    return {{"ROWLOCK_URL", store->url()}, {"ROWLOCK_PREFIX", store->options().prefix}};
  }
  // Starts the command as the role that it is for, if there are roles (support/roles.hpp).
  std::unique_ptr<command_process> start(const words& arguments) {
    auto variables = environment();
    variables["ROWLOCK_URL"] = as_role(store->url(), use_of(arguments));
    return start_rowlock(arguments, variables);
  }
  command_result rowlock(const words& arguments) { return start(arguments)->wait(); }

  nlohmann::json json_of(words arguments) {
    arguments.push_back("--json");
    const auto result = rowlock(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  // Starts the command with a redirection as in bash, such as "2>/dev/full".
  std::unique_ptr<command_process> start_redirected(const std::string& redirection, const words& arguments) {
    auto variables = environment();
    variables["ROWLOCK_URL"] = as_role(store->url(), use_of(arguments));
    words all{"-c", "exec \"$0\" \"$@\" " + redirection, ROWLOCK_COMMAND_PATH};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return start_program("bash", all, variables);
  }

  // Starts `rowlock run` with a command that runs until its input ends. It has the lock when this returns.
  std::unique_ptr<command_process> hold(const std::string& name, const words& options = {}) {
    words arguments{"run", name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", "echo held; cat >/dev/null"});
    auto holder = start(arguments);
    EXPECT_EQ(holder->read_line(), "held");
    return holder;
  }

  // Starts another `rowlock run`, which waits for the lock. It stands in the queue when this returns.
  std::unique_ptr<command_process> wait_for(const std::string& name, const words& options = {}) {
    const auto before = store->open()->connect()->queue(name).size();
    words arguments{"run", name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "echo", "mine"});
    auto waiter = start(arguments);
    auto session = store->open()->connect();
    eventually("the waiter is queued", [&] { return session->queue(name).size() > before; });
    return waiter;
  }
};

}  // namespace rowlock::test
