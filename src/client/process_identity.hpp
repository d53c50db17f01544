// This process as its leases name it, for operators to see.
#pragma once

#include "store/store.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace rowlock::client_layer {

struct process_identity {
  std::string host;
  std::int64_t pid = 0;
  std::string application;

  // application: empty for the program's name.
  static process_identity of_this_process(const std::string& application);

  store::lease_record lease(model::lease_id id, model::lease_id client, std::chrono::milliseconds ttl) const {
    return {id, client, host, pid, application, ttl};
  }
};

}  // namespace rowlock::client_layer
