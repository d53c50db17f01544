#include "fault.hpp"

#include <algorithm>

namespace rowlock::test {

bool fault::is_for(const std::string& database) const {
  return std::ranges::find(databases, database) != databases.end();
}

std::vector<fault> all_faults() {
  std::vector<fault> all;
  for (const auto& part : {client_faults(), server_faults(), connection_faults(), mode_faults(),
                           file_faults(), cluster_faults()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace rowlock::test
