// What a worker does for each line that it receives.
#pragma once

#include "load.hpp"
#include "sql_session.hpp"

#include <rowlock/rowlock.hpp>

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

namespace rowlock::test {

class commands {
 public:
  commands(std::string url, const options& settings);

  // Answers each line with one line, and some with two. An error of rowlock's is an answer, too: "error CODE text".
  void run(const std::string& line);

 private:
  std::string acquire(const std::string& name);
  std::string campaign(const std::string& name);
  std::string try_acquire(const std::string& name, std::optional<std::chrono::milliseconds> limit);
  std::string release();
  std::string state() const;
  std::string await_loss(std::chrono::milliseconds limit) const;
  std::string write();
  std::string stop_before_guard();
  std::string start_load(std::istream& words);
  std::string fork_child(const std::string& name);
  static std::string execute_program();
  std::string release_all();
  // For a latch and a barrier.
  std::string count_down(std::istream& words);
  std::string await_latch(std::istream& words);
  std::string arrive(std::istream& words);
  std::string keep(hold made);

  std::string url_;
  options settings_;
  client db_;
  std::unique_ptr<sql_session> session_;
  hold held_;
  term term_;
  std::vector<hold> many_;
  std::unique_ptr<load> load_;
};

}  // namespace rowlock::test
