// The fixtures of the tests of the pages in docs/coming-from: two clients of one store, and a shell. A test contains
// each line of code of its page; coming_from_test.cpp compares them.
#pragma once

#include "cli/cli_test.hpp"
#include "docs/shell.hpp"
#include "support/temporary_folder.hpp"

#include <rowlock/rowlock.hpp>

#include <functional>

namespace rowlock::test {

using namespace std::chrono_literals;

class coming_from_test : public cli_test {
 protected:
  client new_client(const options& settings = {}) const { return new_client(*store, settings); }
  // A client of another database.
  static client new_client(store_fixture& on, options settings = {});

  // Calls check while another client waits in the lock's queue. That client keeps the hold that it is granted.
  void with_a_waiter(const std::string& name, const std::function<void()>& check);

  client db = new_client();
  client other = new_client();
};

// For pages that need a URL or the command, which the memory store does not have.
class coming_from_sql_test : public coming_from_test {
 protected:
  coming_from_sql_test();

  // Runs the line where a program `work` exists: it prints "working" and ends when its input ends.
  std::unique_ptr<command_process> start_shell(const std::string& line) const;
  command_result shell(const std::string& line) const { return start_shell(line)->wait(); }
  // Runs the line, and returns when it has printed "working", so it has the lock.
  std::unique_ptr<command_process> working_shell(const std::string& line) const;

  const std::string url = store->url();
  const temporary_folder folder;
};

// For the guards, which belong to one driver each.
class coming_from_sqlite_test : public coming_from_sql_test {};
class coming_from_postgres_test : public coming_from_sql_test {};

}  // namespace rowlock::test
