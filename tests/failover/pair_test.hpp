// Two servers in one URL, of which one follows the other and takes over.
#pragma once

#include "failover_test.hpp"

#include <initializer_list>
#include <string>

namespace rowlock::test {

class pair_test : public failover_test {
 protected:
  // script: exports NAME_URL, NAME_PORTS and NAME_CONTROL.
  pair_test(const char* script, std::string name) : script_{script}, name_{std::move(name)} {}

  // Makes a new pair. mode: sync or async.
  void make(const std::string& mode);
  void change(const std::string& action) const { control(of_script("CONTROL") + ' ' + action); }
  void fail_over() const;
  // places: "primary", "follower", or both in this order; they name the servers as make() has made them.
  std::string url_of(std::initializer_list<std::string> places) const;

  // The tests that each kind of pair must pass.
  void expect_to_pass_over_the_follower() const;
  void expect_to_lose_nothing();
  // The latest grants are not on the follower: their holders learn of the loss, and no token is issued twice.
  void expect_holders_to_learn_what_is_lost();

 private:
  std::string of_script(const std::string& what) const {
    return exported((name_ + '_' + what).c_str(), script_);
  }
  void until_epoch_is_above(std::int64_t before) const;

  const char* script_;
  const std::string name_;
};

}  // namespace rowlock::test
