// What the tests of the pages in docs/coming-from begin with: two clients of one store, and a shell. A test
// contains each line of code of its page; coming_from_test.cpp compares them.
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
  coming_from_test();

  // For connect(). The memory store has no URL, and no command.
  bool has_url() const { return !url.empty(); }
  client new_client(const options& settings = {}) const { return new_client(*store, settings); }
  // Of another database.
  static client new_client(store_fixture& on, options settings = {});

  // Runs the line where a program `work` is: it prints "working" and ends when its input ends.
  std::unique_ptr<command_process> start_shell(const std::string& line) const;
  command_result shell(const std::string& line) const { return start_shell(line)->wait(); }
  // It has printed "working", so it has the lock.
  std::unique_ptr<command_process> working_shell(const std::string& line) const;

  // Calls check while another client waits in the lock's queue. What that client is granted, it keeps.
  void with_a_waiter(const std::string& name, const std::function<void()>& check);

  const std::string url = store->url();
  const temporary_folder folder;
  client db = new_client();
  client other = new_client();
};

}  // namespace rowlock::test
