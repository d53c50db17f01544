// How a process's leases describe it to operators.
#pragma once

#include "store/store.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowlock::client_layer {

struct process_identity {
  std::string host;
  std::int64_t pid = 0;
  std::string application;
  std::string user;
  std::string program;

  // application: empty means the program's name, which the kernel truncates. command: empty means the
  // program's file name.
  static process_identity of_this_process(const std::string& application, const std::string& command = {});

  store::lease_record lease(model::lease_id id, model::lease_id client, std::chrono::milliseconds ttl) const {
    return {id, client, host, pid, application, ttl, user, program};
  }
};

// Distinguishes a process of this machine from all others that have had or will have its pid: names the boot,
// and when the process started after it. Empty: there is no such process, or /proc does not show it.
std::string birth_of(std::int64_t pid);

// The name of the user with that number, from the text of /etc/passwd. Empty: it is not there.
std::string user_in(std::string_view passwd, std::uint64_t uid);

}  // namespace rowlock::client_layer
