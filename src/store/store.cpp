#include "store/store.hpp"

namespace rowlock::store {

std::vector<edit_result> session::edit(std::span<const edit_request> requests) {
  return edit_together(requests, [&](auto results, auto views) {
    std::vector<lock_change> changes(requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (results[i] == edit_result::committed) changes[i] = requests[i].decide(views[i]);
    }
    return changes;
  });
}

}  // namespace rowlock::store
