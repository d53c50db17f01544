#include "client/process_identity.hpp"

#include "model/names.hpp"

#include <unistd.h>

#include <fstream>

namespace rowlock::client_layer {

namespace {

std::string program_name() {
  std::string name;
  std::getline(std::ifstream{"/proc/self/comm"}, name);
  name = model::printable(name);
  return name.empty() ? "rowlock" : name;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? model::printable(name) : "unknown";
}

}  // namespace

process_identity process_identity::of_this_process(const std::string& application) {
  return {host_name(), ::getpid(), application.empty() ? program_name() : application};
}

}  // namespace rowlock::client_layer
